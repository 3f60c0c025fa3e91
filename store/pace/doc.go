// Package pace lets long work and short work share one machine, and bounds the memory of both.
//
// A read that may take long is run on a Turn. It calls Turn.Step between rows, which does nothing until a slice
// of time is over, and then lets somebody else run. A Scheduler decides who: only as many turns run at a time as
// there are processors, work that begins goes before work that has had a slice, and parties (connections) take
// turns with each other, however much each of them asks for. A party has only a few turns under way; its others
// wait until one of these ends. So a connection that asks for five hundred scans gets the processors as often as
// one that asks for one.
//
// Most reads take less time than waiting for a turn. So work may first be tried with Turn.BeginWithBudget: it runs at
// once and never waits. When its budget is spent, Step ends it with ErrBudget, and it begins again with Turn.Begin.
//
// A Room is memory that all turns share: Turn.Hold takes some of it and Turn.End gives it back. When there is none
// left Hold waits, but the turn that waits first may take more than there is. It can always finish, and what it gives
// back lets the others go on.
//
// A turn ends early, with an error from Step or Hold, when its context or its time is over. A nil *Turn is work that
// is not bounded: its methods do nothing.
package pace
