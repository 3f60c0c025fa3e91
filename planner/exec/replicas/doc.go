// Package replicas decides whether a request reaches its consistency level, and how long it waits for replicas.
//
// A Set has the replicas of one partition: how many there should be, and how many are alive. Its Check methods refuse
// levels that the replicas cannot reach. Its Await methods return a Wait: how long the request waits for the replicas
// that it needs, and the error if these answer too late. A node without a ring never waits.
package replicas
