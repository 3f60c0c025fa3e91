package functions

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

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

// reform is the first day of the Gregorian calendar, 1582-10-15, as days since 1970. What was before is in the
// Julian calendar.
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
