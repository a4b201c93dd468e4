// Debezium's embedded engine with its outbox event router beside patra.
//
//     java peers.Debezium VARIANT setup | backlog EVENTS KEYS | idle EVENTS KEYS
//
// VARIANT is "default" or "tuned", which looks every millisecond instead of every 500 for what was read from the log of the server.
// Only what is written while its slot exists is read: so in the backlog run the engine is ready first, then PEER_BACKLOG (SQL) is
// committed in one transaction, and the clock starts at the commit. The database is named by PGHOST, PGPORT, PGUSER and PGDATABASE.
// Prints a line of JSON.
package peers;

import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class Debezium {
    private static final int EVERY_MS = 20;
    private static final int WARM_MS = 2000;
    private static final int READY_SECONDS = 40;
    private static final int BACKLOG_SECONDS = 50;
    private static final int LEFT_SECONDS = 10;
    private static final String DATABASE = System.getenv("PGDATABASE");

    private static Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/"
                + DATABASE, System.getenv("PGUSER"), "");
    }

    private static Properties settings(String variant) {
        final Properties p = new Properties();
        p.setProperty("name", "peers");
        p.setProperty("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
        p.setProperty("offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore");
        p.setProperty("offset.flush.interval.ms", "1000");
        p.setProperty("database.hostname", System.getenv("PGHOST"));
        p.setProperty("database.port", System.getenv("PGPORT"));
        p.setProperty("database.user", System.getenv("PGUSER"));
        p.setProperty("database.password", "");
        p.setProperty("database.dbname", DATABASE);
        p.setProperty("plugin.name", "pgoutput");
        p.setProperty("slot.name", "peers_" + DATABASE);
        p.setProperty("publication.name", "peers_" + DATABASE);
        p.setProperty("publication.autocreate.mode", "filtered");
        p.setProperty("table.include.list", "public.outboxevent");
        p.setProperty("topic.prefix", "peers");
        p.setProperty("snapshot.mode", "no_data");
        p.setProperty("tombstones.on.delete", "false");
        if (variant.equals("tuned"))
            p.setProperty("poll.interval.ms", "1");
        p.setProperty("converter.schemas.enable", "false");
        p.setProperty("transforms", "outbox");
        p.setProperty("transforms.outbox.type", "io.debezium.transforms.outbox.EventRouter");
        return p;
    }

    /** Key and payload are texts, which JSON puts in quotes. */
    private static void handle(Tally tally, ChangeEvent<String, String> event) {
        tally.handle(event.key().substring(1, event.key().length() - 1), event.value());
    }

    private static void waitUntilReady(Connection sql) throws Exception {
        try (Statement statement = sql.createStatement()) {
            for (int i = 0; i < READY_SECONDS * 10; i++) {
                try (ResultSet row = statement.executeQuery(
                        "SELECT 1 FROM pg_replication_slots WHERE active AND slot_name = 'peers_" + DATABASE + "'")) {
                    if (row.next()) {
                        Thread.sleep(WARM_MS);
                        return;
                    }
                }
                Thread.sleep(100);
            }
        }
        throw new IllegalStateException("the engine is not ready after " + READY_SECONDS + " s");
    }

    private static void setup() throws SQLException {
        try (Connection sql = connect(); Statement statement = sql.createStatement()) {
            statement.execute("CREATE TABLE outboxevent (id uuid PRIMARY KEY, aggregatetype text NOT NULL,"
                    + " aggregateid text NOT NULL, type text NOT NULL, payload text NOT NULL)");
        }
    }

    private static void backlog(Connection sql, Tally tally) throws Exception {
        final long from;
        try (Statement statement = sql.createStatement()) {
            statement.execute(System.getenv("PEER_BACKLOG"));
            from = System.nanoTime();
        }
        tally.await(BACKLOG_SECONDS);
        tally.printRate(from);
    }

    private static void idle(Connection sql, Tally tally, int events, int keys) throws Exception {
        final String filling = "a".repeat(670);
        try (PreparedStatement insert = sql.prepareStatement("INSERT INTO outboxevent (id, aggregatetype, aggregateid, type, payload)"
                + " VALUES (gen_random_uuid(), 'work', ?, 'Changed', ?)")) {
            for (int n = 0; n < events; n++) {
                insert.setString(1, "k" + n % keys);
                insert.setString(2, "{\"version\":" + (1 + n / keys) + ",\"x\":\"" + filling + "\"}");
                insert.executeUpdate();
                tally.committed(n);
                Thread.sleep(EVERY_MS);
            }
        }
        tally.await(LEFT_SECONDS);
        tally.printDelay();
    }

    public static void main(String[] args) throws Exception {
        if (args[1].equals("setup")) {
            setup();
            return;
        }
        final int events = Integer.parseInt(args[2]);
        final int keys = Integer.parseInt(args[3]);
        final Tally tally = new Tally(events, keys);
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection sql = connect()) {
            final DebeziumEngine<ChangeEvent<String, String>> engine = DebeziumEngine.create(Json.class).using(settings(args[0]))
                    .notifying(event -> handle(tally, event))
                    .using((success, message, error) -> {
                        if (!success)
                            System.err.println("debezium: " + message);
                    }).build();
            thread.execute(engine);
            waitUntilReady(sql);
            if (args[1].equals("backlog"))
                backlog(sql, tally);
            else
                idle(sql, tally, events, keys);
        }
        Runtime.getRuntime().halt(0); // the engine takes long to end, and nothing is kept
    }
}
