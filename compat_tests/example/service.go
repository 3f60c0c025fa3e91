// Package example is an application like those of the users of package cqltest, with its tests: the orders of an online
// supermarket on gocql. Customers fill a basket, reserve a slot for the delivery and order; teams pick the products and
// deliver them. It has a conditional write that must not succeed twice, reservations that expire, a batch over several
// tables, counters, paging and a queue.
//
// Its tests start a server of package cqltest. With -cassandra ADDR they run against a real Cassandra, with the same
// results:
//
//	go test -C compat_tests/example . -cassandra 127.0.0.1:9042
package example

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// Schema has the definitions. Run them in the order of their file names, in the application's keyspace.
//
//go:embed schema
var Schema embed.FS

// Errors that customers see.
var (
	ErrUnknown = errors.New("there is no such slot")
	ErrTaken   = errors.New("the slot is taken")
	ErrExpired = errors.New("the slot is not reserved any more")
	ErrEmpty   = errors.New("the basket is empty")
	ErrNoWork  = errors.New("there is nothing to pick")
)

// Shop is the application.
type Shop struct {
	Session     *gocql.Session
	Reservation time.Duration // how long a slot stays reserved
	Claim       time.Duration // how long a picker may take
}

// Slot is when and by whom an order is delivered.
type Slot struct {
	Day    time.Time
	Starts time.Duration // since midnight
	Team   int
}

// Order is an order of a customer.
type Order struct {
	ID       gocql.UUID
	Slot     Slot
	Products map[string]int
	Total    *inf.Dec
}

// Plan offers slots.
func (s *Shop) Plan(ctx context.Context, slots ...Slot) error {
	for _, slot := range slots {
		err := s.Session.Query("INSERT INTO delivery_slots (day, starts, team, planned) VALUES (?, ?, ?, true)",
			slot.Day, slot.Starts, slot.Team).WithContext(ctx).Exec()
		if err != nil {
			return fmt.Errorf("plan a slot: %w", err)
		}
	}
	return nil
}

// Free returns the slots of a day that can be reserved, by time.
func (s *Shop) Free(ctx context.Context, day time.Time) (free []Slot, err error) {
	rows := s.Session.Query("SELECT starts, team, reserved_by FROM delivery_slots WHERE day = ?", day).
		WithContext(ctx).Iter()
	slot := Slot{Day: day}
	var by *gocql.UUID
	for rows.Scan(&slot.Starts, &slot.Team, &by) {
		if by == nil {
			free = append(free, slot)
		}
	}
	return free, rows.Close()
}

// Reserve keeps a slot for a customer, for a while.
func (s *Shop) Reserve(ctx context.Context, customer gocql.UUID, slot Slot) error {
	found := map[string]any{}
	applied, err := s.Session.Query("UPDATE delivery_slots USING TTL ? SET reserved_by = ? "+
		"WHERE day = ? AND starts = ? AND team = ? IF planned = true AND reserved_by = NULL",
		int(s.Reservation.Seconds()), customer, slot.Day, slot.Starts, slot.Team).WithContext(ctx).MapScanCAS(found)
	switch {
	case err != nil:
		return fmt.Errorf("reserve a slot: %w", err)
	case applied, found["reserved_by"] == customer: // the answer to an earlier attempt may have been lost
		return nil
	case found["planned"] != true:
		return ErrUnknown
	}
	return ErrTaken
}

// Put puts products into a customer's basket.
func (s *Shop) Put(ctx context.Context, customer gocql.UUID, product string, n int) error {
	err := s.Session.Query("UPDATE baskets SET products[?] = ? WHERE customer = ?", product, n, customer).
		WithContext(ctx).Idempotent(true).Exec()
	if err != nil {
		return fmt.Errorf("put %s into a basket: %w", product, err)
	}
	return nil
}

// Submit orders the contents of a customer's basket, for a slot that the customer has reserved. It is idempotent: retry
// with the same id if the outcome is unknown.
func (s *Shop) Submit(ctx context.Context, customer, id gocql.UUID, slot Slot, total *inf.Dec) error {
	var products map[string]int
	err := s.Session.Query("SELECT products FROM baskets WHERE customer = ?", customer).WithContext(ctx).Scan(&products)
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		return fmt.Errorf("read a basket: %w", err)
	}
	if len(products) == 0 {
		return ErrEmpty
	}
	if err := s.confirm(ctx, customer, id, slot); err != nil {
		return err
	}
	b := s.Session.NewBatch(gocql.LoggedBatch).WithContext(ctx)
	b.Query("INSERT INTO orders_by_customer (customer, order_id, day, starts, team, products, total) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?)", customer, id, slot.Day, slot.Starts, slot.Team, products, total)
	b.Query("INSERT INTO orders_by_day (day, team, starts, order_id, customer) VALUES (?, ?, ?, ?, ?)",
		slot.Day, slot.Team, slot.Starts, id, customer)
	b.Query("INSERT INTO picking (team, order_id, queued) VALUES (?, ?, true)", slot.Team, id)
	b.Query("DELETE FROM baskets WHERE customer = ?", customer)
	if err := s.Session.ExecuteBatch(b); err != nil {
		return fmt.Errorf("store an order: %w", err)
	}
	for product, n := range products {
		err := s.Session.Query("UPDATE sales SET sold = sold + ? WHERE product = ?", int64(n), product).WithContext(ctx).Exec()
		if err != nil {
			return fmt.Errorf("count sales: %w", err)
		}
	}
	return nil
}

// confirm takes a reserved slot for an order. Writing the customer again ends the TTL of the reservation.
func (s *Shop) confirm(ctx context.Context, customer, id gocql.UUID, slot Slot) error {
	found := map[string]any{}
	applied, err := s.Session.Query("UPDATE delivery_slots SET reserved_by = ?, order_id = ? "+
		"WHERE day = ? AND starts = ? AND team = ? IF reserved_by = ? AND order_id = NULL",
		customer, id, slot.Day, slot.Starts, slot.Team, customer).WithContext(ctx).MapScanCAS(found)
	switch {
	case err != nil:
		return fmt.Errorf("confirm a slot: %w", err)
	case applied, found["order_id"] == id:
		return nil
	case found["reserved_by"] == customer: // for another order
		return ErrTaken
	}
	return ErrExpired
}

// Orders returns a page of a customer's orders, the newest first, and where the next one begins; nil: there is none.
func (s *Shop) Orders(ctx context.Context, customer gocql.UUID, size int, page []byte) (all []Order, next []byte, err error) {
	rows := s.Session.Query("SELECT order_id, day, starts, team, products, total FROM orders_by_customer WHERE customer = ?",
		customer).WithContext(ctx).PageSize(size).PageState(page).Iter()
	next = rows.PageState()
	for range rows.NumRows() {
		var o Order
		if !rows.Scan(&o.ID, &o.Slot.Day, &o.Slot.Starts, &o.Slot.Team, &o.Products, &o.Total) {
			break
		}
		all = append(all, o)
	}
	return all, next, rows.Close()
}

// Deliveries returns the orders that a team has on a day, by time.
func (s *Shop) Deliveries(ctx context.Context, day time.Time, team int) (ids []gocql.UUID, err error) {
	rows := s.Session.Query("SELECT order_id FROM orders_by_day WHERE day = ? AND team = ?", day, team).
		WithContext(ctx).Iter()
	var id gocql.UUID
	for rows.Scan(&id) {
		ids = append(ids, id)
	}
	return ids, rows.Close()
}

// Sold returns how many of a product were ordered.
func (s *Shop) Sold(ctx context.Context, product string) (n int64, err error) {
	err = s.Session.Query("SELECT sold FROM sales WHERE product = ?", product).WithContext(ctx).Scan(&n)
	if errors.Is(err, gocql.ErrNotFound) {
		return 0, nil
	}
	return n, err
}

// Pick gives a picker the oldest free order of a team. Another picker gets it if Picked is not called in time.
func (s *Shop) Pick(ctx context.Context, team int, picker string) (id gocql.UUID, err error) {
	rows := s.Session.Query("SELECT order_id, claimed_by FROM picking WHERE team = ?", team).WithContext(ctx).Iter()
	var by *string
	for rows.Scan(&id, &by) {
		if by != nil {
			continue
		}
		// An order that was picked meanwhile is not queued any more.
		applied, err := s.Session.Query("UPDATE picking USING TTL ? SET claimed_by = ? WHERE team = ? AND order_id = ? "+
			"IF queued = true AND claimed_by = NULL", int(s.Claim.Seconds()), picker, team, id).WithContext(ctx).MapScanCAS(map[string]any{})
		if err != nil || applied {
			return id, errors.Join(err, rows.Close())
		}
	}
	if err := rows.Close(); err != nil {
		return id, err
	}
	return id, ErrNoWork
}

// Picked takes an order out of the queue, if the picker still has it.
func (s *Shop) Picked(ctx context.Context, team int, id gocql.UUID, picker string) error {
	applied, err := s.Session.Query("DELETE FROM picking WHERE team = ? AND order_id = ? IF claimed_by = ?",
		team, id, picker).WithContext(ctx).MapScanCAS(map[string]any{})
	switch {
	case err != nil:
		return fmt.Errorf("end picking: %w", err)
	case !applied:
		return ErrExpired
	}
	return nil
}
