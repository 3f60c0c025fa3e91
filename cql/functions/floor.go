package functions

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// floorFunctions round points in time down to the multiples of a duration, counted from 1970 or from another time.
// GROUP BY takes them for a clustering column in the first place.
var floorFunctions = []Function{
	floor(types.Timestamp, types.Timestamp, false),
	floor(types.Timestamp, types.Timestamp, true),
	floor(types.TimeUUID, types.Timestamp, false),
	floor(types.TimeUUID, types.Timestamp, true),
	floor(types.Date, types.Date, false),
	floor(types.Date, types.Date, true),
	{
		Name: "floor", Args: []types.Type{types.Time, types.Duration}, Returns: types.Time, Monotonic: true,
		Doc: "The last multiple of a duration up to a time of day.",
		Call: func(c *Call) (types.Value, error) {
			if anyNull(c, types.Time, types.Duration) {
				return types.Value{}, nil
			}
			at, err := floorTime(types.DecodeBigInt(c.Args[0].Bytes), c.Args[1].Bytes)
			return types.Value{Bytes: types.EncodeBigInt(at)}, err
		},
		Examples: []Example{
			{"floor((time)'16:41:13.12', 10m)", "'16:40:00.000000000'"},
			{"floor((time)'16:41:13.12', 1us)", "'16:41:13.120000000'"},
			{"floor((time)'16:41:13.12', 0s)", "'16:41:13.120000000'"},
		},
	},
}

// floorExamples are examples of floor by the type of its first argument; a start has its own.
var floorExamples = map[string][]Example{
	"timestamp": {
		{"floor((timestamp)'2020-02-29 12:34:56.789', 1h)", "'2020-02-29T12:00:00.000Z'"},
		{"floor((timestamp)'2020-02-29 12:34:56.789', 1mo)", "'2020-02-01T00:00:00.000Z'"},
	},
	"timestamp from": {
		{"floor((timestamp)'2020-02-29', 1mo, (timestamp)'2020-01-31')", "'2020-02-29T00:00:00.000Z'"},
		{"floor((timestamp)'2020-03-30', 1mo2d, (timestamp)'2020-01-31')", "'2020-03-02T00:00:00.000Z'"},
	},
	"timeuuid":      {{"floor(50554d6e-29bb-11e5-b345-feff819cdc9f, 1d)", "'2015-07-14T00:00:00.000Z'"}},
	"timeuuid from": {{"floor(50554d6e-29bb-11e5-b345-feff819cdc9f, 1y, '2000-06-01')", "'2015-06-01T00:00:00.000Z'"}},
	"date":          {{"floor((date)'2020-02-29', 1w)", "'2020-02-27'"}},
	"date from":     {{"floor((date)'2020-02-29', 1mo, (date)'2020-01-15')", "'2020-02-15'"}},
}

// floor declares floor of a point in time, from a start if it is given one.
func floor(of, returns types.Type, from bool) Function {
	f := Function{
		Name: "floor", Args: []types.Type{of, types.Duration}, Returns: returns, Monotonic: true,
		Doc:      "The last multiple of a duration since 1970 up to a point in time.",
		Examples: floorExamples[of.String()],
	}
	if from {
		f.Args = append(f.Args, returns)
		f.Doc = "The last multiple of a duration, counted from a start, up to a point in time."
		f.Examples = floorExamples[of.String()+" from"]
	}
	f.Call = func(c *Call) (types.Value, error) {
		if anyNull(c, f.Args...) {
			return types.Value{}, nil
		}
		start := int64(0)
		if from {
			start = asMillis(returns, c.Args[2].Bytes)
		}
		at, err := floorMillis(returns, asMillis(of, c.Args[0].Bytes), start, c.Args[1].Bytes)
		if returns == types.Date {
			return types.Value{Bytes: types.EncodeDate(days(at))}, err
		}
		return types.Value{Bytes: types.EncodeBigInt(at)}, err
	}
	return f
}

// anyNull reports whether an argument is null, or nothing else to a function of those types.
func anyNull(c *Call, ts ...types.Type) bool {
	for i, t := range ts {
		if isNull(t, c.Args[i].Bytes) {
			return true
		}
	}
	return false
}

// asMillis is a timestamp, timeuuid or date in milliseconds since 1970.
func asMillis(t types.Type, b []byte) int64 {
	switch t {
	case types.TimeUUID:
		return types.TimeUUIDMillis(b)
	case types.Date:
		return types.DecodeDate(b) * milliPerDay
	}
	return types.DecodeBigInt(b)
}

// errNegativeFloor is for durations that lead backwards.
func errNegativeFloor() error {
	return cqlerr.Invalidf("Negative durations are not supported by the floor function")
}

// floorMillis is the last multiple of a duration from a start up to a time, all but the duration in milliseconds.
func floorMillis(t types.Type, at, start int64, duration []byte) (int64, error) {
	months, days, nanos := types.DecodeDuration(duration)
	switch {
	case t == types.Date && nanos != 0:
		return 0, cqlerr.Invalidf("The floor on date values cannot be computed for the %s duration as precision "+
			"is below 1 day",
			types.Duration.Format(duration))
	case nanos%nanoPerMilli != 0:
		return 0, cqlerr.Invalidf("The floor cannot be computed for the %s duration as precision is below 1 millisecond",
			types.Duration.Format(duration))
	case start > at:
		return 0, cqlerr.Invalidf("The floor function starting time is greater than the provided time")
	case months < 0 || days < 0 || nanos < 0:
		return 0, errNegativeFloor()
	}
	step := days*milliPerDay + nanos/nanoPerMilli
	switch {
	case months > 0:
		return floorMonths(at, start, int32(months), step), nil
	case step == 0:
		return at, nil
	}
	return at - (at-start)%step, nil
}

// floorMonths counts steps of months and milliseconds. It goes as many steps from the start as there are months up to
// the time, and then back as long as it is too far: the day of a short month stays as short in all months before it.
// Years and months are counted in 4 bytes, and years before the first one backwards.
func floorMonths(at, start int64, months int32, millis int64) int64 {
	year, month := yearAndMonth(at)
	startYear, startMonth := yearAndMonth(start)
	steps := ((year-startYear)*12 + month - startMonth) / months
	day := floorQuo(start, milliPerDay)
	ofDay := start - day*milliPerDay
	day = addMonths(day, int64(steps*months))
	floor := day*milliPerDay + ofDay
	if millis == 0 {
		return floor
	}
	for floor += int64(steps) * millis; floor > at; {
		steps--
		day = addMonths(day, -int64(months))
		floor = day*milliPerDay + ofDay + int64(steps)*millis
	}
	return max(start, floor)
}

// yearAndMonth returns the year, without its era, and the month of a time.
func yearAndMonth(millis int64) (year, month int32) {
	day := floorQuo(millis, milliPerDay)
	y, m, _ := civil(day, day < reform)
	if y <= 0 {
		y = 1 - y
	}
	return int32(y), int32(m)
}

// floorTime is the last multiple of a duration up to a time of day, in nanoseconds.
func floorTime(at int64, duration []byte) (int64, error) {
	months, days, nanos := types.DecodeDuration(duration)
	switch {
	case months < 0 || days < 0 || nanos < 0:
		return 0, errNegativeFloor()
	case months != 0 || days != 0 || nanos > milliPerDay*nanoPerMilli:
		return 0, cqlerr.Invalidf("For time values, the floor can only be computed for durations smaller that a day")
	case nanos == 0:
		return at, nil
	}
	return at - at%nanos, nil
}

// moved declares + or - of a duration to a point in time of type t.
func moved(op byte, t types.Type) Function {
	sign := int64(1)
	if op == '-' {
		sign = -1
	}
	return operation(op, t, types.Duration, t, func(a, b []byte) ([]byte, error) {
		months, days, nanos := types.DecodeDuration(b)
		if t == types.Date {
			if nanos != 0 {
				return nil, cqlerr.Invalidf("The duration must have a day precision. Was: %s", types.Duration.Format(b))
			}
			millis := move(types.DecodeDate(a)*milliPerDay, sign*months, sign*days, 0)
			return types.EncodeDate(int64(int32(millis / milliPerDay))), nil
		}
		if nanos%nanoPerMilli != 0 {
			return nil, cqlerr.Invalidf("The duration must have a millisecond precision. Was: %s", types.Duration.Format(b))
		}
		return types.EncodeBigInt(move(types.DecodeBigInt(a), sign*months, sign*days, sign*nanos/nanoPerMilli)), nil
	})
}

// nanoPerMilli is a millisecond in the unit of durations.
const nanoPerMilli = 1_000_000

// move adds months, which keep the day if the month is long enough, then days and milliseconds. With months, only
// the low 4 bytes of the milliseconds count.
func move(at, months, days, millis int64) int64 {
	if months == 0 {
		return at + days*milliPerDay + millis
	}
	day := at / milliPerDay
	if at%milliPerDay < 0 {
		day--
	}
	ofDay := at - day*milliPerDay
	return (addMonths(day, months)+days)*milliPerDay + ofDay + int64(int32(millis))
}

// reform is the first day of the Gregorian calendar, 1582-10-15, as days since 1970. Earlier dates are in the Julian
// calendar.
const reform = -141427

// addMonths moves a day since 1970 by months; a day that the month does not have becomes its last one.
func addMonths(day, months int64) int64 {
	year, month, ofMonth := civil(day, day < reform)
	month += months - 1
	year += floorQuo(month, 12)
	month = month - floorQuo(month, 12)*12 + 1
	julian := dayNumber(year, month, 1, false) < reform
	nextYear, nextMonth := year+month/12, month%12+1
	length := dayNumber(nextYear, nextMonth, 1, julian) - dayNumber(year, month, 1, julian)
	ofMonth = min(ofMonth, length)
	if moved := dayNumber(year, month, ofMonth, false); moved >= reform {
		return moved
	}
	return dayNumber(year, month, ofMonth, true)
}

// leapDays is the number of leap days before a year that begins in March.
func leapDays(year int64, julian bool) int64 {
	if julian {
		return floorQuo(year, 4)
	}
	return floorQuo(year, 4) - floorQuo(year, 100) + floorQuo(year, 400)
}

// The days from 1 March of year 0 to 1970-01-01 in both calendars.
const (
	gregorianEpoch = 719468
	julianEpoch    = 719470
)

func epoch(julian bool) int64 {
	if julian {
		return julianEpoch
	}
	return gregorianEpoch
}

// dayNumber counts the days from 1970 to a date. Years begin in March for it, so that leap days are at their end.
func dayNumber(year, month, day int64, julian bool) int64 {
	if month < 3 {
		year, month = year-1, month+12
	}
	return year*365 + leapDays(year, julian) + (153*(month-3)+2)/5 + day - 1 - epoch(julian)
}

// civil is the date of a day since 1970.
func civil(day int64, julian bool) (year, month, ofMonth int64) {
	year = floorQuo((day+epoch(julian))*400, 146097) + 1
	if julian {
		year = floorQuo((day+epoch(julian))*400, 146100) + 1
	}
	for dayNumber(year, 3, 1, julian) > day {
		year--
	}
	ofYear := day - dayNumber(year, 3, 1, julian)
	month = (5*ofYear + 2) / 153
	ofMonth = ofYear - (153*month+2)/5 + 1
	if month += 3; month > 12 {
		return year + 1, month - 12, ofMonth
	}
	return year, month, ofMonth
}

// floorQuo divides by a positive number, rounding down.
func floorQuo(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
