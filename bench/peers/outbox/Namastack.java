// namastack-outbox (Spring Boot, JDBC) beside patra.
//
//     java peers.Namastack VARIANT setup | backlog EVENTS KEYS | idle EVENTS KEYS
//
// VARIANT is "default", or "tuned": the settings of its own performance test. Its rows are written by its own API, in the backlog
// run all in one transaction, and the clock starts at the commit. The database is named by PGHOST, PGPORT, PGUSER and PGDATABASE.
// Prints a line of JSON.

package peers;

import io.namastack.outbox.Outbox;
import io.namastack.outbox.handler.OutboxRecordMetadata;
import io.namastack.outbox.handler.OutboxTypedHandler;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

@SpringBootApplication
@EnableScheduling
public class Namastack {
    private static final int EVERY_MS = 20;
    private static final int WARM_MS = 3000; // until it has its partitions
    private static final int BACKLOG_SECONDS = 30;
    private static final int LEFT_SECONDS = 10;
    private static final String FILLING = "a".repeat(670);
    private static Tally tally;

    /** What is written, and handed on. */
    public record Event(long version, String x) {
    }

    public static class Handler implements OutboxTypedHandler<Event> {
        @Override
        public void handle(Event event, OutboxRecordMetadata metadata) {
            tally.handle(metadata.getKey(), event.version());
        }
    }

    @Bean
    public Handler handler() {
        return new Handler();
    }

    private static String url() {
        return "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    }

    private static Map<String, Object> settings(String variant) {
        final Map<String, Object> settings = new HashMap<>();
        settings.put("spring.datasource.url", url());
        settings.put("spring.datasource.username", System.getenv("PGUSER"));
        settings.put("spring.main.banner-mode", "off");
        settings.put("logging.level.root", "ERROR");
        if (variant.equals("tuned")) {
            settings.put("spring.datasource.hikari.maximum-pool-size", "40");
            settings.put("namastack.outbox.polling.batch-size", "800");
            settings.put("namastack.outbox.polling.fixed.interval", "25ms");
            settings.put("namastack.outbox.processing.executor-core-pool-size", "16");
            settings.put("namastack.outbox.processing.executor-max-pool-size", "32");
        }
        return settings;
    }

    private static void setup() throws Exception {
        try (Connection sql = DriverManager.getConnection(url(), System.getenv("PGUSER"), "");
                Statement statement = sql.createStatement();
                var schema = Outbox.class.getClassLoader().getResourceAsStream("schema/postgres/outbox-tables.sql")) {
            statement.execute(new String(schema.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    private static void write(Outbox outbox, int n, int keys) {
        outbox.schedule(new Event(1 + n / keys, FILLING), "k" + n % keys);
    }

    private static void idle(Outbox outbox, TransactionTemplate transaction, int events, int keys) throws InterruptedException {
        for (int i = 0; i < events; i++) {
            final int n = i;
            transaction.executeWithoutResult(status -> write(outbox, n, keys));
            tally.committed(n);
            Thread.sleep(EVERY_MS);
        }
        tally.await(LEFT_SECONDS);
        tally.printDelay();
    }

    private static void backlog(Outbox outbox, TransactionTemplate transaction, int events, int keys) throws InterruptedException {
        transaction.executeWithoutResult(status -> {
            for (int n = 0; n < events; n++)
                write(outbox, n, keys);
        });
        final long from = System.nanoTime();
        tally.await(BACKLOG_SECONDS);
        tally.printRate(from);
    }

    public static void main(String[] args) throws Exception {
        if (args[1].equals("setup")) {
            setup();
            return;
        }
        final int events = Integer.parseInt(args[2]);
        final int keys = Integer.parseInt(args[3]);
        tally = new Tally(events, keys);
        final SpringApplication application = new SpringApplication(Namastack.class);
        application.setDefaultProperties(settings(args[0]));
        final ApplicationContext context = application.run();
        final Outbox outbox = context.getBean(Outbox.class);
        final TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        Thread.sleep(WARM_MS);
        if (args[1].equals("backlog"))
            backlog(outbox, transaction, events, keys);
        else
            idle(outbox, transaction, events, keys);
        Runtime.getRuntime().halt(0);
    }
}
