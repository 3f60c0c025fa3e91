// CQL 3.4.7: all statements of Cassandra 5.0.
//
// Rules decide on the next token wherever the language allows it: alternatives with a common beginning
// share it, operators are loops without precedence (the tree is built with it afterwards), and a name is
// one token. The decisions that need more are each in a rule of their own that starts with the token that
// makes it necessary: a parenthesis, JSON, DISTINCT, and the properties and DESCRIBE, where it is cheap.
//
// The labels are what the tree is built from.
parser grammar CqlParser;

options { tokenVocab = CqlLexer; }

query : body=statement SEMICOLON* EOF;

statement
    : read=selectStatement
    | insert=insertStatement
    | update=updateStatement
    | del=deleteStatement
    | batch=batchStatement
    | use=useStatement
    | truncate=truncateStatement
    | create=createStatement
    | alter=alterStatement
    | drop=dropStatement
    | describe=describeStatement
    | grant=grantStatement
    | revoke=revokeStatement
    | list=listStatement
    | identity=addIdentityStatement
    ;

// SELECT

selectStatement
    : K_SELECT head=selectHead K_FROM table=tableName
      ( K_WHERE where=whereClause )?
      ( K_GROUP K_BY groupBy+=selection ( COMMA groupBy+=selection )* )?
      ( K_ORDER K_BY orderBy+=ordering ( COMMA orderBy+=ordering )* )?
      ( K_PER K_PARTITION K_LIMIT perPartition=limitValue )?
      ( K_LIMIT limit=limitValue )?
      ( allow=K_ALLOW K_FILTERING )?
    ;

// JSON and DISTINCT are also names of columns.
selectHead : ( json=K_JSON )? rest=distinctHead;

distinctHead
    : distinct=K_DISTINCT items=selectors
    | items=selectors
    ;

selectors
    : STAR
    | items+=selector ( COMMA items+=selector )*
    ;

selector : expr=selection ( K_AS alias=ident )?;

// All binary operators at one level: who binds stronger is the builder's affair.
selection : first=selectOperand ( rest+=selectStep )*;

selectStep : op=( PLUS | MINUS | STAR | SLASH | PERCENT ) value=selectOperand;

selectOperand
    : minus=MINUS negated=selectOperand
    | primary=selectPrimary suffixes+=selectSuffix*
    ;

selectSuffix
    : DOT ( field=ident ( args=selectArgs )? | partitioner=K_TOKEN args=selectArgs )
    | LBRACKET sub=subscript RBRACKET
    ;

subscript
    : from=term ( dots=RANGE ( to=term )? )?
    | dots=RANGE to=term
    ;

// What most statements select; all else is in a rule of its own, which keeps the context of this one small.
selectPrimary
    : plain=( IDENT | QUOTED_NAME ) ( args=selectArgs )?
    | function=functionWord ( args=selectArgs )?
    | literal=
      ( STRING_LITERAL | INTEGER | FLOAT | BOOLEAN | DURATION | UUID | HEXNUMBER
        | K_POSITIVE_NAN | K_NEGATIVE_NAN | K_POSITIVE_INFINITY | K_NEGATIVE_INFINITY
      )
    | bind=marker
    | other=selectOther
    ;

selectOther
    : null=K_NULL
    | word=( K_KEY | K_JSON | K_DISTINCT )
    | count=K_COUNT ( tail=countTail )?
    | cell=( K_WRITETIME | K_MAXWRITETIME | K_TTL ) ( LPAREN of=ident ofSuffixes+=cellSuffix* RPAREN )?
    | cast=K_CAST ( LPAREN value=selection K_AS to=nativeType RPAREN )?
    | partitioner=K_TOKEN args=selectArgs
    | list=selectList
    | braces=selectBraces
    | parens=selectParens
    ;

countTail
    : LPAREN ( star=STAR | args+=selection ( COMMA args+=selection )* )? RPAREN
    ;

cellSuffix
    : DOT field=ident
    | LBRACKET sub=subscript RBRACKET
    ;

selectArgs : LPAREN ( args+=selection ( COMMA args+=selection )* )? RPAREN;

selectList : LBRACKET ( items+=selection ( COMMA items+=selection )* )? RBRACKET;

selectBraces
    : LBRACE
      ( keys+=selection
        ( COLON values+=selection ( COMMA keys+=selection COLON values+=selection )*
        | ( COMMA keys+=selection )*
        )
      )?
      RBRACE
    ;

selectParens
    : LPAREN hint=typeName RPAREN hinted=selectPrimary
    | LPAREN items+=selection ( COMMA items+=selection )* RPAREN
    ;

ordering : column=columnName ( K_ANN K_OF annOf=term )? ( direction=( K_ASC | K_DESC ) )?;

limitValue
    : number=INTEGER
    | bind=marker
    ;

// WHERE and IF

whereClause : relations+=relation ( K_AND relations+=relation )*;

relation
    : column=columnName
      ( op=operator value=term
      | like=K_LIKE value=term
      | K_IS K_NOT notNull=K_NULL
      | in=K_IN values=inValues
      | contains=K_CONTAINS ( key=K_KEY )? value=term
      | LBRACKET element=term RBRACKET op=operator value=term
      )
    | partitioner=K_TOKEN columns=columnNames op=operator value=term
    | parens=parenRelation
    | custom=EXPR_PAREN index=namePart COMMA value=term RPAREN
    ;

parenRelation
    : LPAREN inner=relation RPAREN
    | columns=columnNames
      ( in=K_IN tuples=inTuples
      | op=operator tuple=tupleValue
      )
    ;

columnNames : LPAREN names+=columnName ( COMMA names+=columnName )* RPAREN;

operator : EQ | LT | LE | GT | GE | NE;

inValues
    : bind=marker
    | LPAREN ( items+=term ( COMMA items+=term )* )? RPAREN
    ;

inTuples
    : bind=marker
    | LPAREN
      ( tuples+=tupleLiteral ( COMMA tuples+=tupleLiteral )*
      | markers+=marker ( COMMA markers+=marker )*
      )?
      RPAREN
    ;

tupleValue
    : tuple=tupleLiteral
    | bind=marker
    ;

ifClause
    : K_IF
      ( exists=K_EXISTS
      | conditions+=condition ( K_AND conditions+=condition )*
      )
    ;

condition
    : column=columnName
      ( test=conditionTest
      | contains=K_CONTAINS ( key=K_KEY )? value=term
      | LBRACKET element=term RBRACKET test=conditionTest
      | DOT field=ident test=conditionTest
      )
    ;

conditionTest
    : op=operator value=term
    | in=K_IN values=inValues
    ;

// INSERT, UPDATE, DELETE, BATCH, TRUNCATE

insertStatement
    : K_INSERT K_INTO table=tableName
      ( LPAREN columns+=columnName ( COMMA columns+=columnName )* RPAREN
        K_VALUES LPAREN values+=term ( COMMA values+=term )* RPAREN
      | json=K_JSON value=jsonValue ( K_DEFAULT ( K_NULL | unset=K_UNSET ) )?
      )
      ( notExists=K_IF K_NOT K_EXISTS )?
      ( using=usingClause )?
    ;

jsonValue
    : literal=STRING_LITERAL
    | bind=marker
    ;

usingClause : K_USING items+=usingItem ( K_AND items+=usingItem )*;

usingItem
    : timestamp=K_TIMESTAMP value=limitValue
    | K_TTL value=limitValue
    ;

updateStatement
    : K_UPDATE table=tableName ( using=usingClause )?
      K_SET assignments+=assignment ( COMMA assignments+=assignment )*
      K_WHERE where=whereClause
      ( conditions=ifClause )?
    ;

assignment
    : column=columnName
      ( EQ plain=assignedValue
      | shorthand=( PLUS_EQ | MINUS_EQ ) value=term
      | LBRACKET element=term RBRACKET EQ value=term
      | DOT field=ident EQ value=term
      )
    ;

// The integer of the second form carries its sign: c = c -3.
assignedValue
    : column=columnName sign=( PLUS | MINUS ) value=term
    | column=columnName number=INTEGER
    | sum=assignedSum ( PLUS column=columnName )?
    ;

assignedSum : first=operand ( rest+=step )*;

deleteStatement
    : K_DELETE ( targets+=deleteTarget ( COMMA targets+=deleteTarget )* )?
      K_FROM table=tableName
      ( K_USING K_TIMESTAMP timestamp=limitValue )?
      K_WHERE where=whereClause
      ( conditions=ifClause )?
    ;

deleteTarget
    : column=columnName
      ( LBRACKET element=term RBRACKET
      | DOT field=ident
      )?
    ;

batchStatement
    : K_BEGIN ( kind=( K_UNLOGGED | K_COUNTER ) )? K_BATCH ( using=usingClause )?
      ( statements+=modification SEMICOLON? )*
      K_APPLY K_BATCH
    ;

modification
    : insert=insertStatement
    | update=updateStatement
    | del=deleteStatement
    ;

truncateStatement : K_TRUNCATE K_COLUMNFAMILY? table=tableName;

// USE, CREATE, ALTER, DROP, DESCRIBE

useStatement : K_USE keyspace=keyspaceName;

createStatement
    : K_CREATE
      ( K_KEYSPACE ( notExists=K_IF K_NOT K_EXISTS )? keyspace=keyspaceName K_WITH options=properties
      | K_COLUMNFAMILY ( notExists=K_IF K_NOT K_EXISTS )? table=tableName
        LPAREN items+=tableItem ( COMMA ( items+=tableItem )? )* RPAREN
        ( K_WITH settings+=tableOption ( K_AND settings+=tableOption )* )?
      | userType=createType
      | index=createIndex
      | view=createView
      | trigger=createTrigger
      | user=createUser
      | role=createRole
      | ( K_OR replace=K_REPLACE )? ( function=createFunction | aggregate=createAggregate )
      )
    ;

createType
    : K_TYPE ( notExists=K_IF K_NOT K_EXISTS )? name=userTypeName
      LPAREN fields+=fieldDefinition ( COMMA ( fields+=fieldDefinition )? )* RPAREN
    ;

fieldDefinition : name=ident kind=typeName;

createIndex
    : ( custom=K_CUSTOM )? K_INDEX ( notExists=K_IF K_NOT K_EXISTS )? ( name=namePart )?
      K_ON table=tableName LPAREN ( targets+=indexTarget ( COMMA targets+=indexTarget )* )? RPAREN
      ( K_USING class=STRING_LITERAL )?
      ( K_WITH options=properties )?
    ;

indexTarget
    : kind=( K_VALUES | K_KEYS | K_ENTRIES | K_FULL ) LPAREN column=columnName RPAREN
    | column=columnName
    ;

createView
    : K_MATERIALIZED K_VIEW ( notExists=K_IF K_NOT K_EXISTS )? view=tableName K_AS
      K_SELECT items=selectors K_FROM table=tableName ( K_WHERE where=whereClause )?
      K_PRIMARY K_KEY LPAREN key=partitionKey ( COMMA clustering+=ident )* RPAREN
      ( K_WITH settings+=tableOption ( K_AND settings+=tableOption )* )?
    ;

createTrigger
    : K_TRIGGER ( notExists=K_IF K_NOT K_EXISTS )? name=ident K_ON table=tableName K_USING class=STRING_LITERAL
    ;

createFunction
    : K_FUNCTION ( notExists=K_IF K_NOT K_EXISTS )? name=definedFunction
      LPAREN ( args+=fieldDefinition ( COMMA args+=fieldDefinition )* )? RPAREN
      ( K_RETURNS K_NULL | called=K_CALLED ) K_ON K_NULL K_INPUT
      K_RETURNS result=typeName K_LANGUAGE language=IDENT K_AS body=STRING_LITERAL
    ;

createAggregate
    : K_AGGREGATE ( notExists=K_IF K_NOT K_EXISTS )? name=definedFunction args=typeNames
      K_SFUNC stateFunction=functionIdent K_STYPE stateType=typeName
      ( K_FINALFUNC finalFunction=functionIdent )?
      ( K_INITCOND initial=term )?
    ;

typeNames : LPAREN ( items+=typeName ( COMMA items+=typeName )* )? RPAREN;

createUser
    : K_USER ( notExists=K_IF K_NOT K_EXISTS )? name=userName
      ( K_WITH password=userPassword )?
      ( superuser=( K_SUPERUSER | K_NOSUPERUSER ) )?
    ;

userPassword : ( hashed=K_HASHED )? K_PASSWORD password=STRING_LITERAL;

createRole
    : K_ROLE ( notExists=K_IF K_NOT K_EXISTS )? name=roleName
      ( K_WITH options+=roleOption ( K_AND options+=roleOption )* )?
    ;

roleOption
    : ( hashed=K_HASHED )? K_PASSWORD EQ password=STRING_LITERAL
    | K_OPTIONS EQ entries=propertyMap
    | flag=( K_SUPERUSER | K_LOGIN ) EQ value=BOOLEAN
    | K_ACCESS
      ( direction=K_TO ( K_ALL K_DATACENTERS | K_DATACENTERS names=stringSet )
      | direction=K_FROM ( K_ALL K_CIDRS | K_CIDRS names=stringSet )
      )
    ;

stringSet : LBRACE items+=STRING_LITERAL ( COMMA items+=STRING_LITERAL )* RBRACE;

properties : items+=property ( K_AND items+=property )*;

property : name=ident EQ ( simple=propertyValue | entries=propertyMap );

propertyValue
    : literal=
      ( STRING_LITERAL | INTEGER | FLOAT | BOOLEAN | DURATION | UUID | HEXNUMBER
        | K_POSITIVE_NAN | K_NEGATIVE_NAN | K_POSITIVE_INFINITY | K_NEGATIVE_INFINITY
      )
    | word=unreserved
    ;

propertyMap : LBRACE ( keys+=term COLON values+=term ( COMMA keys+=term COLON values+=term )* )? RBRACE;

tableItem
    : name=ident kind=typeName ( static=K_STATIC )? ( mask=columnMask )? ( primary=K_PRIMARY K_KEY )?
    | K_PRIMARY K_KEY LPAREN key=partitionKey ( COMMA clustering+=ident )* RPAREN
    ;

partitionKey
    : columns+=ident
    | LPAREN columns+=ident ( COMMA columns+=ident )* RPAREN
    ;

columnMask
    : K_MASKED K_WITH unmasked=K_DEFAULT
    | K_MASKED K_WITH function=functionName LPAREN ( args+=term ( COMMA args+=term )* )? RPAREN
    ;

tableOption
    : compact=K_COMPACT K_STORAGE
    | K_CLUSTERING K_ORDER K_BY LPAREN order+=clusteringOrder ( COMMA order+=clusteringOrder )* RPAREN
    | option=property
    ;

clusteringOrder : column=ident direction=( K_ASC | K_DESC );

alterStatement
    : K_ALTER
      ( K_KEYSPACE ( exists=K_IF K_EXISTS )? keyspace=keyspaceName K_WITH options=properties
      | K_COLUMNFAMILY ( exists=K_IF K_EXISTS )? table=tableName tableChanged=tableChange
      | K_TYPE ( exists=K_IF K_EXISTS )? userType=userTypeName typeChanged=typeChange
      | K_MATERIALIZED K_VIEW ( exists=K_IF K_EXISTS )? view=tableName K_WITH options=properties
      | user=K_USER ( exists=K_IF K_EXISTS )? login=userName
        ( K_WITH password=userPassword )?
        ( superuser=( K_SUPERUSER | K_NOSUPERUSER ) )?
      | K_ROLE ( exists=K_IF K_EXISTS )? role=roleName
        ( K_WITH settings+=roleOption ( K_AND settings+=roleOption )* )?
      )
    ;

tableChange
    : K_ALTER
      ( exists=K_IF K_EXISTS column=columnName masking=maskChange
      | column=columnName ( K_TYPE kind=typeName | masking=maskChange )
      )
    | K_ADD ( notExists=K_IF K_NOT K_EXISTS )?
      ( added+=addedColumn
      | LPAREN added+=addedColumn ( COMMA added+=addedColumn )* RPAREN
      )
    | K_DROP
      ( compact=K_COMPACT K_STORAGE
      | ( exists=K_IF K_EXISTS )?
        ( dropped+=ident
        | LPAREN dropped+=ident ( COMMA dropped+=ident )* RPAREN
        )
        ( K_USING K_TIMESTAMP timestamp=INTEGER )?
      )
    | K_RENAME ( exists=K_IF K_EXISTS )? renames+=rename ( K_AND renames+=rename )*
    | K_WITH options=properties
    ;

maskChange
    : mask=columnMask
    | K_DROP K_MASKED
    ;

addedColumn : name=ident kind=typeName ( static=K_STATIC )? ( mask=columnMask )?;

rename : from=ident K_TO to=ident;

typeChange
    : K_ALTER field=ident K_TYPE kind=typeName
    | K_ADD ( notExists=K_IF K_NOT K_EXISTS )? added=fieldDefinition
    | K_RENAME ( exists=K_IF K_EXISTS )? renames+=rename ( K_AND renames+=rename )*
    ;

dropStatement
    : K_DROP
      ( K_KEYSPACE ( exists=K_IF K_EXISTS )? keyspace=keyspaceName
      | K_COLUMNFAMILY ( exists=K_IF K_EXISTS )? table=tableName
      | K_TYPE ( exists=K_IF K_EXISTS )? userType=userTypeName
      | K_INDEX ( exists=K_IF K_EXISTS )? index=indexName
      | K_MATERIALIZED K_VIEW ( exists=K_IF K_EXISTS )? view=tableName
      | K_FUNCTION ( exists=K_IF K_EXISTS )? function=definedFunction ( args=typeNames )?
      | K_AGGREGATE ( exists=K_IF K_EXISTS )? aggregate=definedFunction ( args=typeNames )?
      | K_TRIGGER ( exists=K_IF K_EXISTS )? trigger=ident K_ON table=tableName
      | K_USER ( exists=K_IF K_EXISTS )? user=userName
      | K_ROLE ( exists=K_IF K_EXISTS )? role=roleName
      | K_IDENTITY ( exists=K_IF K_EXISTS )? identity=userName
      )
    ;

describeStatement : ( K_DESCRIBE | K_DESC ) what=describeTarget ( K_WITH internals=K_INTERNALS )?;

describeTarget
    : kind=K_CLUSTER
    | ( full=K_FULL )? kind=K_SCHEMA
    | kind=K_KEYSPACES
    | ( only=K_ONLY )? kind=K_KEYSPACE ( keyspace=keyspaceName )?
    | kind=K_TABLES
    | kind=K_COLUMNFAMILY table=tableName
    | kind=K_INDEX table=tableName
    | kind=K_MATERIALIZED K_VIEW table=tableName
    | kind=K_TYPES
    | kind=K_TYPE userType=userTypeName
    | kind=K_FUNCTIONS
    | kind=K_FUNCTION ( DOT )? function=definedFunction
    | kind=K_AGGREGATES
    | kind=K_AGGREGATE ( DOT )? function=definedFunction
    | table=tableName
    ;

// GRANT, REVOKE, LIST and identities

grantStatement
    : K_GRANT
      ( what=permissions K_ON on=resource
      | role=roleName
      )
      K_TO to=roleName
    ;

revokeStatement
    : K_REVOKE
      ( what=permissions K_ON on=resource
      | role=roleName
      )
      K_FROM from=roleName
    ;

listStatement
    : K_LIST
      ( users=K_USERS
      | roles=K_ROLES ( K_OF of=roleName )? ( direct=K_NORECURSIVE )?
      | what=permissions ( K_ON on=resource )? ( K_OF of=roleName )? ( direct=K_NORECURSIVE )?
      )
    ;

permissions
    : all=K_ALL ( K_PERMISSIONS )?
    | items+=permission ( K_PERMISSION )? ( COMMA items+=permission ( K_PERMISSION )? )*
    ;

permission
    : K_CREATE | K_ALTER | K_DROP | K_SELECT | K_MODIFY | K_AUTHORIZE | K_DESCRIBE | K_EXECUTE | K_UNMASK
    | K_SELECT_MASKED
    ;

resource
    : all=K_ALL
      ( kind=( K_KEYSPACES | K_ROLES | K_MBEANS )
      | kind=K_TABLES K_IN K_KEYSPACE keyspace=keyspaceName
      | kind=K_FUNCTIONS ( K_IN K_KEYSPACE keyspace=keyspaceName )?
      )
    | kind=K_KEYSPACE keyspace=keyspaceName
    | kind=K_ROLE role=roleName
    | kind=K_FUNCTION function=definedFunction args=typeNames
    | kind=( K_MBEAN | K_MBEANS ) pattern=STRING_LITERAL
    | ( K_COLUMNFAMILY )? table=tableName
    ;

addIdentityStatement
    : K_ADD K_IDENTITY ( notExists=K_IF K_NOT K_EXISTS )? identity=userName K_TO K_ROLE role=userName
    ;

// Terms

term : first=operand ( rest+=step )*;

step : op=( PLUS | MINUS | STAR | SLASH | PERCENT ) value=operand;

operand : ( minus=MINUS )? value=simpleTerm;

// The literals stand here and in two other rules, and not in a rule of their own, because they are the most frequent
// of all terms and a rule makes an object.
simpleTerm
    : literal=
      ( STRING_LITERAL | INTEGER | FLOAT | BOOLEAN | DURATION | UUID | HEXNUMBER
        | K_POSITIVE_NAN | K_NEGATIVE_NAN | K_POSITIVE_INFINITY | K_NEGATIVE_INFINITY
      )
    | bind=marker
    | fn=call
    | other=otherTerm
    ;

otherTerm
    : null=K_NULL
    | list=LBRACKET ( items+=term ( COMMA items+=term )* )? RBRACKET
    | braces=bracesTerm
    | parens=parenTerm
    | cast=K_CAST ( LPAREN value=simpleTerm K_AS to=nativeType RPAREN | scoped=scopedCall )
    | K_KEY scoped=scopedCall
    ;

// The rest of a call whose keyspace is called key or cast.
scopedCall : DOT name=functionIdent LPAREN ( args+=term ( COMMA args+=term )* )? RPAREN;

// A set, a map or, with names before the colons, a user type.
bracesTerm
    : LBRACE fields+=ident COLON values+=term ( COMMA fields+=ident COLON values+=term )* RBRACE
    | LBRACE
      ( keys+=term
        ( COLON values+=term ( COMMA keys+=term COLON values+=term )*
        | ( COMMA keys+=term )*
        )
      )?
      RBRACE
    ;

parenTerm
    : LPAREN hint=typeName RPAREN hinted=simpleTerm
    | tuple=tupleLiteral
    ;

tupleLiteral : LPAREN items+=term ( COMMA items+=term )* RPAREN;

call : function=functionName LPAREN ( args+=term ( COMMA args+=term )* )? RPAREN;


marker
    : mark=QMARK
    | COLON name=ident
    ;

// Types

typeName
    : native=nativeType ( DOT user=userTypeIdent )?
    | collection=K_FROZEN ( LT args+=typeName GT | DOT user=userTypeIdent )?
    | collection=K_LIST ( LT args+=typeName GT | DOT user=userTypeIdent )?
    | collection=K_SET LT args+=typeName GT
    | collection=K_MAP ( LT args+=typeName COMMA args+=typeName GT | DOT user=userTypeIdent )?
    | collection=K_TUPLE ( LT args+=typeName ( COMMA args+=typeName )* GT | DOT user=userTypeIdent )?
    | collection=K_VECTOR ( LT args+=typeName COMMA dimension=INTEGER GT | DOT user=userTypeIdent )?
    | keyspace=notTypeWord DOT user=userTypeIdent
    | name=plainTypeName ( DOT user=userTypeIdent )?
    | class=STRING_LITERAL
    ;

// A user type's name by itself, in DESCRIBE TYPE.
userTypeName
    : first=userTypeIdent ( DOT user=userTypeIdent )?
    | nativeType DOT user=userTypeIdent
    | notTypeWord DOT user=userTypeIdent
    ;

nativeType
    : K_ASCII | K_BIGINT | K_BLOB | K_BOOLEAN | K_COUNTER | K_DATE | K_DECIMAL | K_DOUBLE | K_DURATION
    | K_FLOAT | K_INET | K_INT | K_SMALLINT | K_TEXT | K_TIME | K_TIMESTAMP | K_TIMEUUID | K_TINYINT
    | K_UUID | K_VARCHAR | K_VARINT
    ;

plainTypeName
    : IDENT | QUOTED_NAME | K_KEY
    | plainWord
    ;

userTypeIdent
    : IDENT | QUOTED_NAME | K_KEY
    | plainWord
    | collectionWord
    ;

// Names

keyspaceName
    : ident
    | bound=QMARK
    ;

roleName
    : IDENT
    | STRING_LITERAL
    | QUOTED_NAME
    | unreserved
    | bound=QMARK
    ;

// Of a user or an identity, of which quotes keep no case: the builder refuses them.
userName
    : IDENT
    | STRING_LITERAL
    | QUOTED_NAME
    ;

tableName : first=namePart ( DOT second=namePart )?;

indexName : first=namePart ( DOT second=namePart )?;

namePart
    : IDENT
    | QUOTED_NAME
    | unreserved
    | bound=QMARK
    ;

functionName
    : K_TOKEN
    | first=plainFunctionName ( DOT second=functionIdent )?
    | keyspace=notFunctionWord DOT second=functionIdent
    ;

// The name of a function where it is not called.
definedFunction
    : plain=functionName
    | keyspace=( K_KEY | K_CAST ) DOT second=functionIdent
    ;

plainFunctionName
    : IDENT
    | QUOTED_NAME
    | functionWord
    | K_COUNT
    ;

functionIdent
    : IDENT
    | QUOTED_NAME
    | functionWord
    | K_COUNT
    | K_TOKEN
    ;

columnName
    : IDENT
    | QUOTED_NAME
    | EMPTY_QUOTED_NAME
    | unreserved
    ;

ident
    : IDENT
    | QUOTED_NAME
    | unreserved
    ;

// The words that may be the name of a function.
functionWord
    : plainWord
    | collectionWord
    | nativeType
    ;

unreserved
    : functionWord
    | K_COUNT | K_KEY | K_CAST
    | notFunctionWord
    ;

// The words that are no user type's name but may be its keyspace's.
notTypeWord : notFunctionWord | K_COUNT | K_CAST;

notFunctionWord : K_TTL | K_WRITETIME | K_MAXWRITETIME | K_JSON | K_DISTINCT;

collectionWord
    : K_FROZEN | K_LIST | K_MAP | K_TUPLE | K_VECTOR
    ;

plainWord
    : K_ACCESS | K_AGGREGATE | K_AGGREGATES | K_ALL | K_ANN | K_AS | K_CALLED | K_CIDRS | K_CLUSTER
    | K_CLUSTERING | K_COMPACT | K_CONTAINS | K_CUSTOM | K_DATACENTERS | K_DEFAULT | K_EXISTS
    | K_FILTERING | K_FINALFUNC | K_FUNCTION | K_FUNCTIONS | K_GROUP | K_HASHED | K_IDENTITY | K_INITCOND
    | K_INPUT | K_INTERNALS | K_KEYS | K_KEYSPACES | K_LANGUAGE | K_LIKE | K_LOGIN | K_MASKED | K_MBEAN
    | K_MBEANS | K_NOLOGIN | K_NOSUPERUSER | K_ONLY | K_OPTIONS | K_PARTITION | K_PASSWORD | K_PER
    | K_PERMISSION | K_PERMISSIONS | K_REPLACE | K_RETURNS | K_ROLE | K_ROLES | K_SELECT_MASKED
    | K_SFUNC | K_STATIC | K_STORAGE | K_STYPE | K_SUPERUSER | K_TABLES | K_TRIGGER
    | K_TYPE | K_TYPES | K_UNMASK | K_UNSET | K_USER | K_USERS | K_VALUES
    ;
