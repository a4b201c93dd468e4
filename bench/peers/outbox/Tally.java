// The part of a peer's handler that is the same for all in Java: counts, checks, takes the time.
//
// Event n is version 1 + n / keys of key n % keys.
package peers;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

public final class Tally {
    private final int keys;
    private final long[] versions;
    private final long[] committed;
    private final long[] handled;
    private final CountDownLatch left;
    private int wrong;
    private int count;

    public Tally(int events, int keys) {
        this.keys = keys;
        versions = new long[keys];
        committed = new long[events];
        handled = new long[events];
        left = new CountDownLatch(events);
    }

    /** For event n: its transaction has been committed. */
    public synchronized void committed(int n) {
        committed[n] = System.nanoTime();
    }

    /** The key is a k and a number; the version is the number after that word in the body, however it is quoted. */
    public void handle(String key, String body) {
        int from = body.indexOf("version");
        while (!Character.isDigit(body.charAt(from)))
            from++;
        int to = from;
        while (Character.isDigit(body.charAt(to)))
            to++;
        handle(key, Long.parseLong(body, from, to, 10));
    }

    public void handle(String key, long version) {
        handle(Integer.parseInt(key.substring(1)), version);
    }

    private synchronized void handle(int key, long version) {
        if (version <= versions[key]) {
            wrong++;
            return;
        }
        versions[key] = version;
        handled[(int) (version - 1) * keys + key] = System.nanoTime();
        count++;
        left.countDown();
    }

    public void await(int seconds) throws InterruptedException {
        left.await(seconds, TimeUnit.SECONDS);
    }

    public synchronized void printRate(long fromNs) {
        System.out.printf(Locale.ROOT, "{\"events\": %d, \"seconds\": %.3f, \"wrong\": %d}%n", count,
                (System.nanoTime() - fromNs) / 1e9, wrong);
    }

    /** Of those that came. */
    public synchronized void printDelay() {
        final double[] ms = new double[count];
        int n = 0;
        for (int i = 0; i < handled.length; i++)
            if (handled[i] != 0)
                ms[n++] = (handled[i] - committed[i]) / 1e6;
        Arrays.sort(ms);
        System.out.printf(Locale.ROOT, "{\"events\": %d, \"p50_ms\": %.2f, \"p95_ms\": %.2f, \"wrong\": %d}%n", count,
                ms[count / 2], ms[count * 95 / 100], wrong);
    }
}
