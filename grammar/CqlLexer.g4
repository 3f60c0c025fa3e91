// The tokens of CQL 3.4.7.
//
// The lexer reads bytes, not characters: offsets in the text are byte offsets, and a character outside
// ASCII is the sequence of its UTF-8 bytes, each as the character of that number. It can stand only in
// strings, quoted names, comments and the unit of a duration.
//
// Nothing is ever refused here: text that is no token becomes one of the tokens at the end, which no rule
// of the parser takes.
lexer grammar CqlLexer;

options { caseInsensitive = true; }

// Reserved words: never a name unless quoted.
K_ADD           : 'ADD';
K_ALLOW         : 'ALLOW';
K_ALTER         : 'ALTER';
K_AND           : 'AND';
K_APPLY         : 'APPLY';
K_ASC           : 'ASC';
K_AUTHORIZE     : 'AUTHORIZE';
K_BATCH         : 'BATCH';
K_BEGIN         : 'BEGIN';
K_BY            : 'BY';
K_CREATE        : 'CREATE';
K_DELETE        : 'DELETE';
K_DESC          : 'DESC';
K_DESCRIBE      : 'DESCRIBE';
K_DROP          : 'DROP';
K_ENTRIES       : 'ENTRIES';
K_EXECUTE       : 'EXECUTE';
K_FROM          : 'FROM';
K_FULL          : 'FULL';
K_GRANT         : 'GRANT';
K_IF            : 'IF';
K_IN            : 'IN';
K_INDEX         : 'INDEX';
K_INSERT        : 'INSERT';
K_INTO          : 'INTO';
K_IS            : 'IS';
K_KEYSPACE      : 'KEYSPACE';
K_LIMIT         : 'LIMIT';
K_MATERIALIZED  : 'MATERIALIZED';
K_MODIFY        : 'MODIFY';
K_NORECURSIVE   : 'NORECURSIVE';
K_NOT           : 'NOT';
K_NULL          : 'NULL';
K_OF            : 'OF';
K_ON            : 'ON';
K_OR            : 'OR';
K_ORDER         : 'ORDER';
K_PRIMARY       : 'PRIMARY';
K_RENAME        : 'RENAME';
K_REVOKE        : 'REVOKE';
K_SCHEMA        : 'SCHEMA';
K_SELECT        : 'SELECT';
K_SET           : 'SET';
K_TO            : 'TO';
K_TOKEN         : 'TOKEN';
K_TRUNCATE      : 'TRUNCATE';
K_UNLOGGED      : 'UNLOGGED';
K_UPDATE        : 'UPDATE';
K_USE           : 'USE';
K_USING         : 'USING';
K_VIEW          : 'VIEW';
K_WHERE         : 'WHERE';
K_WITH          : 'WITH';
K_COLUMNFAMILY  : 'TABLE' | 'COLUMNFAMILY';

// Words that may be any kind of name.
K_ACCESS        : 'ACCESS';
K_AGGREGATE     : 'AGGREGATE';
K_AGGREGATES    : 'AGGREGATES';
K_ALL           : 'ALL';
K_ANN           : 'ANN';
K_AS            : 'AS';
K_CALLED        : 'CALLED';
K_CIDRS         : 'CIDRS';
K_CLUSTER       : 'CLUSTER';
K_CLUSTERING    : 'CLUSTERING';
K_COMPACT       : 'COMPACT';
K_CONTAINS      : 'CONTAINS';
K_CUSTOM        : 'CUSTOM';
K_DATACENTERS   : 'DATACENTERS';
K_DEFAULT       : 'DEFAULT';
K_EXISTS        : 'EXISTS';
K_FILTERING     : 'FILTERING';
K_FINALFUNC     : 'FINALFUNC';
K_FUNCTION      : 'FUNCTION';
K_FUNCTIONS     : 'FUNCTIONS';
K_GROUP         : 'GROUP';
K_HASHED        : 'HASHED';
K_IDENTITY      : 'IDENTITY';
K_INITCOND      : 'INITCOND';
K_INPUT         : 'INPUT';
K_INTERNALS     : 'INTERNALS';
K_KEYS          : 'KEYS';
K_KEYSPACES     : 'KEYSPACES';
K_LANGUAGE      : 'LANGUAGE';
K_LIKE          : 'LIKE';
K_LOGIN         : 'LOGIN';
K_MASKED        : 'MASKED';
K_MBEAN         : 'MBEAN';
K_MBEANS        : 'MBEANS';
K_NOLOGIN       : 'NOLOGIN';
K_NOSUPERUSER   : 'NOSUPERUSER';
K_ONLY          : 'ONLY';
K_OPTIONS       : 'OPTIONS';
K_PARTITION     : 'PARTITION';
K_PASSWORD      : 'PASSWORD';
K_PER           : 'PER';
K_PERMISSION    : 'PERMISSION';
K_PERMISSIONS   : 'PERMISSIONS';
K_REPLACE       : 'REPLACE';
K_RETURNS       : 'RETURNS';
K_ROLE          : 'ROLE';
K_ROLES         : 'ROLES';
K_SELECT_MASKED : 'SELECT_MASKED';
K_SFUNC         : 'SFUNC';
K_STATIC        : 'STATIC';
K_STORAGE       : 'STORAGE';
K_STYPE         : 'STYPE';
K_SUPERUSER     : 'SUPERUSER';
K_TRIGGER       : 'TRIGGER';
K_TYPE          : 'TYPE';
K_TYPES         : 'TYPES';
K_UNMASK        : 'UNMASK';
K_UNSET         : 'UNSET';
K_USER          : 'USER';
K_USERS         : 'USERS';
K_VALUES        : 'VALUES';
K_TABLES        : 'TABLES' | 'COLUMNFAMILIES';

// The same, and they begin a type.
K_FROZEN        : 'FROZEN';
K_LIST          : 'LIST';
K_MAP           : 'MAP';
K_TUPLE         : 'TUPLE';
K_VECTOR        : 'VECTOR';

// Native types: names of everything but user types.
K_ASCII         : 'ASCII';
K_BIGINT        : 'BIGINT';
K_BLOB          : 'BLOB';
K_BOOLEAN       : 'BOOLEAN';
K_COUNTER       : 'COUNTER';
K_DATE          : 'DATE';
K_DECIMAL       : 'DECIMAL';
K_DOUBLE        : 'DOUBLE';
K_DURATION      : 'DURATION';
K_FLOAT         : 'FLOAT';
K_INET          : 'INET';
K_INT           : 'INT';
K_SMALLINT      : 'SMALLINT';
K_TEXT          : 'TEXT';
K_TIME          : 'TIME';
K_TIMESTAMP     : 'TIMESTAMP';
K_TIMEUUID      : 'TIMEUUID';
K_TINYINT       : 'TINYINT';
K_UUID          : 'UUID';
K_VARCHAR       : 'VARCHAR';
K_VARINT        : 'VARINT';

// Words that are names of columns and tables but not of functions.
K_TTL           : 'TTL';
K_COUNT         : 'COUNT';
K_WRITETIME     : 'WRITETIME';
K_MAXWRITETIME  : 'MAXWRITETIME';
K_KEY           : 'KEY';
K_CAST          : 'CAST';
K_JSON          : 'JSON';
K_DISTINCT      : 'DISTINCT';

// The numbers that are words.
K_POSITIVE_NAN      : 'NAN';
K_NEGATIVE_NAN      : '-NAN';
K_POSITIVE_INFINITY : 'INFINITY';
K_NEGATIVE_INFINITY : '-INFINITY';

BOOLEAN : 'TRUE' | 'FALSE';

SEMICOLON   : ';';
COMMA       : ',';
DOT         : '.';
RANGE       : '..';
COLON       : ':';
QMARK       : '?';
LPAREN      : '(';
RPAREN      : ')';
LBRACKET    : '[';
RBRACKET    : ']';
LBRACE      : '{';
RBRACE      : '}';
EQ          : '=';
NE          : '!=';
LT          : '<';
LE          : '<=';
GT          : '>';
GE          : '>=';
PLUS        : '+';
MINUS       : '-';
STAR        : '*';
SLASH       : '/';
PERCENT     : '%';
PLUS_EQ     : '+=';
MINUS_EQ    : '-=';
EXPR_PAREN  : 'EXPR(';

STRING_LITERAL
    : '\'' ( ~'\'' | '\'\'' )* '\''
    | '$$' ( ~'$' | '$' ~'$' )* '$$'
    ;

EMPTY_QUOTED_NAME : '""';
QUOTED_NAME       : '"' ( ~'"' | '""' )+ '"';

// The minus belongs to the number.
INTEGER : '-'? DIGIT+;

// An integer before a range, 1..2, which must not become the float 1. and a dot; that is what 1...2 is. The
// parser's entry splits it into its two tokens.
INTEGER_RANGE : INTEGER '..' '.'?;

FLOAT : INTEGER ( '.' DIGIT* )? EXPONENT | INTEGER '.' DIGIT*;

// Units may be in either case, the designators of the ISO forms only in upper case. The last unit but one
// is the micro sign in UTF-8.
DURATION options { caseInsensitive = false; }
    : '-'? ( DIGIT+ DURATION_UNIT )+
    | '-'? 'P' ( DIGIT+ 'Y' )? ( DIGIT+ 'M' )? ( DIGIT+ 'D' )? ( 'T' ISO_TIME )
    | '-'? 'P' ISO_DATE
    | '-'? 'P' DIGIT+ 'W'
    | '-'? 'P' D4 '-' D2 '-' D2 'T' D2 ':' D2 ':' D2
    ;

IDENT : LETTER ( LETTER | DIGIT | '_' )*;

HEXNUMBER : '0X' HEX*;

UUID : HEX HEX HEX HEX HEX HEX HEX HEX '-' HEX HEX HEX HEX '-' HEX HEX HEX HEX '-' HEX HEX HEX HEX '-'
       HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX;

BLANK         : [ \t\n\r]+ -> skip;
LINE_COMMENT  : ( '--' | '//' ) ~[\n\r]* [\n\r] -> skip;
BLOCK_COMMENT : '/*' .*? '*/' -> skip;

// What is no token.
BAD_UUID         : DIGIT+ [A-F] HEX* | HEX HEX HEX HEX HEX HEX HEX HEX '-';
BAD_DURATION options { caseInsensitive = false; }
                 : '-'? ( DIGIT+ DURATION_UNIT )+ DIGIT+;
UNENDED_STRING   : '\'' ( ~'\'' | '\'\'' )*;
UNENDED_DOLLARS  : '$$' ( ~'$' | '$' ~'$' )* '$'?;
UNENDED_NAME     : '"' ( ~'"' | '""' )*;
UNENDED_COMMENT  : '/*' ( ~'*' | '*'+ ~[*/] )* '*'*;
UNENDED_LINE     : ( '--' | '//' ) ~[\n\r]*;
BAD_NEGATIVE     : '-N' | '-I';
BAD_CHARACTER    : .;

fragment LETTER   : [A-Z];
fragment DIGIT    : [0-9];
fragment HEX      : [A-F0-9];
fragment EXPONENT : 'E' [+-]? DIGIT+;
fragment D2       : DIGIT DIGIT;
fragment D4       : DIGIT DIGIT DIGIT DIGIT;

// 1 and 2 are how the two bytes of the sign µ come: see input.go in cql/parser.
fragment DURATION_UNIT options { caseInsensitive = false; }
    : [yY] | [mM] [oO] | [wW] | [dD] | [hH] | [mM] | [sS] | [mM] [sS] | [uU] [sS]
    | '\u0001\u0002' [sS] | [nN] [sS]
    ;

// At least one part of a date, and of a time.
fragment ISO_DATE options { caseInsensitive = false; }
    : DIGIT+ 'Y' ( DIGIT+ 'M' )? ( DIGIT+ 'D' )?
    | DIGIT+ 'M' ( DIGIT+ 'D' )?
    | DIGIT+ 'D'
    ;
fragment ISO_TIME options { caseInsensitive = false; }
    : DIGIT+ 'H' ( DIGIT+ 'M' )? ( DIGIT+ 'S' )?
    | DIGIT+ 'M' ( DIGIT+ 'S' )?
    | DIGIT+ 'S'
    ;
