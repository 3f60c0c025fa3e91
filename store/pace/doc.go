// Package pace schedules long and short work fairly on one machine, and bounds the memory of both.
//
// A read that may take long runs on a Turn. It calls Turn.Step between rows, which does nothing until a time slice is
// over, and then yields to another turn. A Scheduler chooses the next one: only as many turns run at a time as there
// are processors, work that begins has priority over work that has had a slice, and parties (connections) are served
// in round-robin order, however much each of them asks for. A party has only a few turns under way; its others wait
// until one of these ends. So a connection that asks for five hundred scans gets the processors as often as one that
// asks for one.
//
// Most reads take less time than waiting for a turn. So work may first be tried with Turn.BeginWithBudget: it runs at
// once and never waits. When its budget is spent, Step ends it with ErrBudget, and it begins again with Turn.Begin.
//
// A Room is memory that all turns share: Turn.Hold takes some of it and Turn.End gives it back. When there is none
// left, Hold waits, but the turn that waits first may exceed the limit. So it can always finish, and then others go on
// with its memory: there is no deadlock.
//
// A turn ends early, with an error from Step or Hold, when its context is done or its deadline has passed. A nil *Turn
// is work without bounds: its methods do nothing.
package pace
