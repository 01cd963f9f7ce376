// Package layer folds the layers of a member's stack into objects, and knows of every field
// which layer set it.
//
// For each object the fold builds strata: a tree in the shape of the API's own schema, in
// which every node keeps the claims of all layers that said something about it or about
// what is below it. Which claim rules is one rule in one place: from bottom to top, each
// claim overrules the one before, and nothing overrules one that is enforced. The value,
// the origin of each leaf, what it won over, and attempts against an enforced layer are
// all read from the same claims, and so cannot disagree.
//
// It is not a merge of two objects at a time: that loses who set what. It does not send
// anything, default anything or validate more than it must to know what meets what.
//
// Trade-offs:
//   - Fields that the schema does not know are deduced (maps merge, lists are whole)
//     instead of refused: a member may be newer than this program. Its API has the last word.
//   - A map that is emptied by removals stays, as {}; a keyed list goes. For a map, to be
//     there is a statement (emptyDir, securityContext); for a list of entries it is none.
//   - A null inside a value is a removal everywhere, also where a custom kind would take it
//     for a value.
//   - Provenance is not stored but derived anew when somebody asks: people ask rarely, and
//     memory would be paid for every object of every stack.
package layer
