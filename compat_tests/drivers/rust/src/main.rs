//! What an application does with the Rust driver, against the server named by CQL_ADDR: connect, define,
//! prepare, write 10,000 rows, page through them, see a schema event, USE, and get errors by their kind.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt, TryStreamExt};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const KEYSPACE: &str = "driver_rust";
const ROWS: i32 = 10_000;
const PARTITIONS: i32 = 10;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let addr = std::env::var("CQL_ADDR").map_err(|_| "CQL_ADDR is not set")?;
    let session = Arc::new(connect(&addr).await?);
    define(&session).await?;
    write_rows(&session).await?;
    read_rows(&session).await?;
    schema_event(&addr, &session).await?;
    use_keyspace(&session).await?;
    errors(&session).await?;
    run(&session, format!("DROP KEYSPACE {KEYSPACE}")).await?;
    println!("rust scylla 1.9.0: ok");
    Ok(())
}

async fn connect(addr: &str) -> Result<Session, Failure> {
    Ok(SessionBuilder::new()
        .known_node(addr)
        .cluster_metadata_refresh_interval(Duration::from_secs(1))
        .build()
        .await?)
}

async fn run(session: &Session, cql: String) -> Result<(), ExecutionError> {
    session.query_unpaged(cql, ()).await.map(|_| ())
}

async fn define(session: &Session) -> Result<(), Failure> {
    run(session, format!("DROP KEYSPACE IF EXISTS {KEYSPACE}")).await?;
    run(
        session,
        format!(
            "CREATE KEYSPACE {KEYSPACE} WITH replication = \
             {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
        ),
    )
    .await?;
    run(
        session,
        format!("CREATE TABLE {KEYSPACE}.rows (p int, c int, v text, PRIMARY KEY (p, c))"),
    )
    .await?;
    Ok(())
}

async fn write_rows(session: &Arc<Session>) -> Result<(), Failure> {
    let insert = session
        .prepare(format!("INSERT INTO {KEYSPACE}.rows (p, c, v) VALUES (?, ?, ?)"))
        .await?;
    stream::iter(0..ROWS)
        .map(Ok::<i32, ExecutionError>)
        .try_for_each_concurrent(64, |i| {
            let (session, insert) = (session.clone(), insert.clone());
            async move {
                let row = (i % PARTITIONS, i / PARTITIONS, format!("value {i}"));
                session.execute_unpaged(&insert, row).await.map(|_| ())
            }
        })
        .await?;
    Ok(())
}

async fn read_rows(session: &Session) -> Result<(), Failure> {
    let mut select = session
        .prepare(format!("SELECT p, c, v FROM {KEYSPACE}.rows"))
        .await?;
    select.set_page_size(100);
    let mut rows = session
        .execute_iter(select, ())
        .await?
        .rows_stream::<(i32, i32, String)>()?;
    let mut seen = HashSet::new();
    while let Some((p, c, v)) = rows.try_next().await? {
        let i = c * PARTITIONS + p;
        check(v == format!("value {i}"), format!("row {p}, {c} has {v}"))?;
        check(seen.insert(i), format!("row {p}, {c} came twice"))?;
    }
    check(seen.len() == ROWS as usize, format!("{} rows came", seen.len()))
}

/// A table that another session makes shows up in this one's metadata: at its next refresh the driver reads
/// again the keyspaces that events named, and only those.
async fn schema_event(addr: &str, session: &Session) -> Result<(), Failure> {
    let other = connect(addr).await?;
    run(&other, format!("CREATE TABLE {KEYSPACE}.seen (k int PRIMARY KEY)")).await?;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(10) {
        let state = session.get_cluster_state();
        if state
            .get_keyspace(KEYSPACE)
            .is_some_and(|k| k.tables.contains_key("seen"))
        {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    check(false, "no schema event in 10 s".to_string())
}

async fn use_keyspace(session: &Session) -> Result<(), Failure> {
    session.use_keyspace(KEYSPACE, false).await?;
    let (v,) = session
        .query_unpaged("SELECT v FROM rows WHERE p = 3 AND c = 7", ())
        .await?
        .into_rows_result()?
        .single_row::<(String,)>()?;
    check(v == "value 73", format!("after USE the row has {v}"))
}

async fn errors(session: &Session) -> Result<(), Failure> {
    let e = refusal(session, "SELEC * FROM rows").await?;
    check(matches!(e, DbError::SyntaxError), format!("for a syntax error: {e:?}"))?;
    let e = refusal(session, "SELECT nope FROM rows").await?;
    check(matches!(e, DbError::Invalid), format!("for an unknown column: {e:?}"))?;
    let e = refusal(session, "CREATE TABLE rows (k int PRIMARY KEY)").await?;
    check(
        matches!(&e, DbError::AlreadyExists { keyspace, table } if keyspace == KEYSPACE && table == "rows"),
        format!("for an existing table: {e:?}"),
    )
}

async fn refusal(session: &Session, cql: &str) -> Result<DbError, Failure> {
    match run(session, cql.to_string()).await {
        Err(ExecutionError::LastAttemptError(RequestAttemptError::DbError(e, _))) => Ok(e),
        other => Err(format!("{cql}: {other:?}").into()),
    }
}

fn check(ok: bool, otherwise: String) -> Result<(), Failure> {
    if ok {
        Ok(())
    } else {
        Err(otherwise.into())
    }
}
