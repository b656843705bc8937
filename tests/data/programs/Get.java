import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;

/** Prints what a URL answers; the proxy comes from the system properties alone. */
public class Get {
    public static void main(String[] args) throws Exception {
        HttpURLConnection c = (HttpURLConnection) new URL(args[0]).openConnection();
        try (InputStream body = c.getInputStream()) {
            body.transferTo(System.out);
        }
        System.out.flush();
    }
}
