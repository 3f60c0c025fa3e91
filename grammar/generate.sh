#!/bin/sh
# Generates the lexer and the parser from the .g4 files with the ANTLR tool. Needs Java and Maven; the
# tool is fetched by its coordinates and checked. Running it twice gives the same files.
set -eu
cd "$(dirname "$0")"

version=4.13.1
sum=bc13a9c57a8dd7d5196888211e5ede657cb64a3ce968608697e4f668251a8487

tools="${TMPDIR:-/tmp}/antlr-$version"
jar="$tools/antlr4-$version-complete.jar"
if [ ! -f "$jar" ]; then
    mvn -q -B dependency:copy -Dartifact="org.antlr:antlr4:$version:jar:complete" -DoutputDirectory="$tools"
fi
echo "$sum  $jar" | sha256sum -c --quiet -

rm -f cql_lexer.go cql_parser.go
java -jar "$jar" -Dlanguage=Go -package grammar -no-listener -no-visitor -Werror CqlLexer.g4
java -jar "$jar" -Dlanguage=Go -package grammar -no-listener -no-visitor -Werror CqlParser.g4
rm -f CqlLexer.interp CqlLexer.tokens CqlParser.interp CqlParser.tokens
gofmt -w cql_lexer.go cql_parser.go
