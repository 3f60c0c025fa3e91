package java

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// timeClasses are Date, Instant, and Cassandra's LocalDate and Duration.
func timeClasses() []declaration {
	dates := func(f func(t *thread, d *date, a []value) value) any { return on(f) }
	part := func(f func(time.Time) int) any {
		return dates(func(_ *thread, d *date, _ []value) value { return integer(f(time.UnixMilli(d.millis).UTC())) })
	}
	days := func(f func(t *thread, d *localDate, a []value) value) any { return on(f) }
	instants := func(f func(t *thread, i *instant, a []value) value) any { return on(f) }
	later := func(unit int64, sign int64) any {
		return instants(func(t *thread, i *instant, a []value) value {
			perSecond := int64(time.Second) / unit
			n := a[0].n
			return newInstant(t, i.seconds+sign*(n/perSecond), int64(i.nanos)+sign*(n%perSecond)*unit)
		})
	}
	return []declaration{
		{classDate, "class java.util.Date implements Comparable<Date>", []native{
			{"Date()", fixed, func(t *thread, _ []value) value { return reference(t.date(t.now().UnixMilli())) }},
			{"Date(long)", fixed, func(t *thread, a []value) value { return reference(t.date(a[0].n)) }},
			{"static Date from(Instant)", fixed, func(t *thread, a []value) value {
				return reference(t.date(to[*instant](a[0]).millis()))
			}},
			{"Instant toInstant()", fixed, dates(func(t *thread, d *date, _ []value) value {
				return instantOfMillis(t, d.millis)
			})},
			{"long getTime()", fixed, dates(func(_ *thread, d *date, _ []value) value { return number(d.millis) })},
			{"void setTime(long)", fixed, dates(func(_ *thread, d *date, a []value) value {
				d.millis = a[0].n
				return value{}
			})},
			{"boolean before(Date)", fixed, dates(func(_ *thread, d *date, a []value) value {
				return boolean(d.millis < to[*date](a[0]).millis)
			})},
			{"boolean after(Date)", fixed, dates(func(_ *thread, d *date, a []value) value {
				return boolean(d.millis > to[*date](a[0]).millis)
			})},
			{"int getYear()", fixed, part(func(t time.Time) int { return t.Year() - 1900 })},
			{"int getMonth()", fixed, part(func(t time.Time) int { return int(t.Month()) - 1 })},
			{"int getDate()", fixed, part(time.Time.Day)},
			{"int getDay()", fixed, part(func(t time.Time) int { return int(t.Weekday()) })},
			{"int getHours()", fixed, part(time.Time.Hour)},
			{"int getMinutes()", fixed, part(time.Time.Minute)},
			{"int getSeconds()", fixed, part(time.Time.Second)},
			{"int getTimezoneOffset()", fixed, part(func(time.Time) int { return 0 })},
		}, nil},
		{classCalendar, "abstract class java.util.Calendar", nil, []constant{
			{"int YEAR", int64(calendarYear)},
			{"int MONTH", int64(calendarMonth)},
			{"int WEEK_OF_YEAR", int64(3)},
			{"int WEEK_OF_MONTH", int64(4)},
			{"int DATE", int64(5)},
			{"int DAY_OF_MONTH", int64(5)},
			{"int DAY_OF_YEAR", int64(6)},
			{"int DAY_OF_WEEK", int64(7)},
			{"int HOUR", int64(10)},
			{"int HOUR_OF_DAY", int64(11)},
			{"int MINUTE", int64(12)},
			{"int SECOND", int64(13)},
			{"int MILLISECOND", int64(14)},
		}},
		{classInstant, "final class java.time.Instant implements Comparable<Instant>", []native{
			{"static Instant now()", fixed, func(t *thread, _ []value) value {
				return newInstant(t, t.now().Unix(), int64(t.now().Nanosecond()))
			}},
			{"static Instant ofEpochMilli(long)", fixed, func(t *thread, a []value) value { return instantOfMillis(t, a[0].n) }},
			{"static Instant ofEpochSecond(long)", fixed, func(t *thread, a []value) value { return newInstant(t, a[0].n, 0) }},
			{"static Instant ofEpochSecond(long, long)", fixed, func(t *thread, a []value) value {
				return newInstant(t, a[0].n, a[1].n)
			}},
			{"long toEpochMilli()", fixed, instants(func(_ *thread, i *instant, _ []value) value { return number(i.millis()) })},
			{"long getEpochSecond()", fixed, instants(func(_ *thread, i *instant, _ []value) value {
				return number(i.seconds)
			})},
			{"int getNano()", fixed, instants(func(_ *thread, i *instant, _ []value) value { return number(int64(i.nanos)) })},
			{"boolean isBefore(Instant)", fixed, instants(func(t *thread, i *instant, a []value) value {
				return boolean(i.compare(t, a[0].notNull()) < 0)
			})},
			{"boolean isAfter(Instant)", fixed, instants(func(t *thread, i *instant, a []value) value {
				return boolean(i.compare(t, a[0].notNull()) > 0)
			})},
			{"Instant plusSeconds(long)", fixed, later(int64(time.Second), 1)},
			{"Instant plusMillis(long)", fixed, later(int64(time.Millisecond), 1)},
			{"Instant plusNanos(long)", fixed, later(1, 1)},
			{"Instant minusSeconds(long)", fixed, later(int64(time.Second), -1)},
			{"Instant minusMillis(long)", fixed, later(int64(time.Millisecond), -1)},
			{"Instant minusNanos(long)", fixed, later(1, -1)},
		}, nil},
		{classLocalDate, "final class LocalDate", []native{
			{"static LocalDate fromDaysSinceEpoch(int)", fixed, func(t *thread, a []value) value {
				return reference(t.localDate(int32(a[0].n)))
			}},
			{"static LocalDate fromMillisSinceEpoch(long)", fixed, func(t *thread, a []value) value {
				return reference(localDateOfMillis(t, a[0].n))
			}},
			{"int getDaysSinceEpoch()", fixed, days(func(_ *thread, d *localDate, _ []value) value {
				return number(int64(d.days))
			})},
			{"int getYear()", fixed, days(func(_ *thread, d *localDate, _ []value) value { return integer(d.time().Year()) })},
			{"int getMonth()", fixed, days(func(_ *thread, d *localDate, _ []value) value {
				return integer(int(d.time().Month()))
			})},
			{"int getDay()", fixed, days(func(_ *thread, d *localDate, _ []value) value { return integer(d.time().Day()) })},
			{"LocalDate add(int, int)", fixed, days(addToDate)},
		}, nil},
		{classDuration, "final class Duration", []native{
			{"static Duration newInstance(int, int, long)", fixed, func(t *thread, a []value) value {
				return newDuration(t, a[0].n, a[1].n, a[2].n)
			}},
			{"static Duration from(String)", linear, func(t *thread, a []value) value {
				text := a[0].str().String()
				if len(text) > maxDuration {
					throw(classIllegalArgument, "the duration is too long")
				}
				b, err := types.Duration.ParseLiteral(types.DurationLiteral, text)
				if err != nil {
					throw(classIllegalArgument, err.Error())
				}
				months, d, nanos := types.DecodeDuration(b)
				return newDuration(t, months, d, nanos)
			}},
			{"int getMonths()", fixed, on(func(_ *thread, d *duration, _ []value) value { return number(d.months) })},
			{"int getDays()", fixed, on(func(_ *thread, d *duration, _ []value) value { return number(d.days) })},
			{"long getNanoseconds()", fixed, on(func(_ *thread, d *duration, _ []value) value { return number(d.nanos) })},
		}, nil},
	}
}

// maxDuration is how long the text of a duration may be.
const maxDuration = 1000

// now is the time of the call.
func (t *thread) now() time.Time {
	if t.env.Host != nil {
		return t.env.Host.Now()
	}
	return time.Now()
}

// date is a java.util.Date.
type date struct{ millis int64 }

func (t *thread) date(millis int64) *date {
	t.alloc(16)
	return &date{millis}
}

func (*date) class() *class        { return classDate }
func (d *date) hash(*thread) int32 { return hashLong(d.millis) }
func (d *date) equals(_ *thread, o object) bool {
	other, ok := o.(*date)
	return ok && d.millis == other.millis
}

func (d *date) text(t *thread) *str {
	return t.ascii(time.UnixMilli(d.millis).UTC().Format("Mon Jan 02 15:04:05 UTC 2006"))
}

func (d *date) compare(_ *thread, o object) int { return compareInts(d.millis, o.(*date).millis) }

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// instant is a java.time.Instant.
type instant struct {
	seconds int64
	nanos   int32
}

func newInstant(t *thread, seconds, nanos int64) value {
	t.alloc(16)
	seconds += floorDiv(nanos, int64(time.Second))
	if seconds < -31557014167219200 || seconds > 31556889864403199 {
		throw(classDateTime, "Instant exceeds minimum or maximum instant")
	}
	return reference(&instant{seconds, int32(floorMod(nanos, int64(time.Second)))})
}

func instantOfMillis(t *thread, millis int64) value {
	return newInstant(t, floorDiv(millis, 1000), floorMod(millis, 1000)*int64(time.Millisecond))
}

func (i *instant) millis() int64 {
	if i.seconds > math.MaxInt64/1000 || i.seconds < math.MinInt64/1000 {
		throw(classArithmeticException, "long overflow")
	}
	return i.seconds*1000 + int64(i.nanos)/int64(time.Millisecond)
}

func (*instant) class() *class        { return classInstant }
func (i *instant) hash(*thread) int32 { return hashLong(i.seconds) + 51*i.nanos }
func (i *instant) equals(_ *thread, o object) bool {
	other, ok := o.(*instant)
	return ok && *i == *other
}

func (i *instant) compare(_ *thread, o object) int {
	other := o.(*instant)
	if c := compareInts(i.seconds, other.seconds); c != 0 {
		return c
	}
	return int(i.nanos) - int(other.nanos)
}

func (i *instant) text(t *thread) *str {
	day := types.FormatDays(floorDiv(i.seconds, 86400))
	text := day + "T" + time.Unix(i.seconds, 0).UTC().Format("15:04:05")
	if i.nanos != 0 {
		digits := strconv.Itoa(int(i.nanos) + int(time.Second))[1:]
		for strings.HasSuffix(digits, "000") {
			digits = digits[:len(digits)-3]
		}
		text += "." + digits
	}
	return t.ascii(text + "Z")
}

// localDate is Cassandra's LocalDate.
type localDate struct{ days int32 }

func (t *thread) localDate(days int32) *localDate {
	t.alloc(16)
	return &localDate{days}
}

func localDateOfMillis(t *thread, millis int64) *localDate {
	days := millis / 86400000
	if days != int64(int32(days)) {
		throw(classIllegalArgument, "Date should be in the range [-5877641-06-23; 5881580-07-11]")
	}
	return t.localDate(int32(days))
}

func (d *localDate) time() time.Time { return time.Unix(int64(d.days)*86400, 0).UTC() }

func (*localDate) class() *class        { return classLocalDate }
func (d *localDate) hash(*thread) int32 { return d.days }
func (d *localDate) equals(_ *thread, o object) bool {
	other, ok := o.(*localDate)
	return ok && d.days == other.days
}

func (d *localDate) text(t *thread) *str {
	return t.ascii(strconv.Itoa(d.time().Year()) + d.time().Format("-01-02"))
}

// The fields of a Calendar that count in months. The others that LocalDate.add takes count in days.
const (
	calendarYear  = 1
	calendarMonth = 2
)

// addToDate is LocalDate.add. A month that is too short for the day ends it.
func addToDate(t *thread, d *localDate, a []value) value {
	n := a[1].int()
	switch field := a[0].int(); field {
	case calendarYear, calendarMonth:
		months := int64(n)
		if field == calendarYear {
			months *= 12
		}
		at := d.time()
		months += int64(at.Year())*12 + int64(at.Month()) - 1
		first := time.Date(int(floorDiv(months, 12)), time.Month(floorMod(months, 12)+1), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		return reference(localDateOfMillis(t, first.UnixMilli()+int64(min(at.Day(), last)-1)*86400000))
	case 3, 4, 8:
		n *= 7
		fallthrough
	case 5, 6, 7:
		return reference(localDateOfMillis(t, (int64(d.days)+int64(n))*86400000))
	case 10, 11, 12, 13, 14:
		unit := map[int]int64{10: 3600000, 11: 3600000, 12: 60000, 13: 1000, 14: 1}[field]
		return reference(localDateOfMillis(t, int64(d.days)*86400000+int64(n)*unit))
	}
	throwPlain(classIllegalArgument)
	return value{}
}

// duration is Cassandra's Duration.
type duration struct{ months, days, nanos int64 }

func newDuration(t *thread, months, days, nanos int64) value {
	if (months < 0 || days < 0 || nanos < 0) && (months > 0 || days > 0 || nanos > 0) {
		throw(classIllegalArgument, "All values must be either negative or positive, got "+strconv.FormatInt(months, 10)+
			" months, "+strconv.FormatInt(days, 10)+" days, "+strconv.FormatInt(nanos, 10)+" nanoseconds")
	}
	t.alloc(32)
	return reference(&duration{months, days, nanos})
}

func (*duration) class() *class { return classDuration }

func (d *duration) hash(*thread) int32 {
	return 31*(31*(31+int32(d.days))+int32(d.months)) + hashLong(d.nanos)
}

func (d *duration) equals(_ *thread, o object) bool {
	other, ok := o.(*duration)
	return ok && *d == *other
}

func (d *duration) text(t *thread) *str {
	if *d == (duration{}) {
		return t.ascii("")
	}
	return t.str(types.Duration.Format(types.EncodeDuration(d.months, d.days, d.nanos)))
}
