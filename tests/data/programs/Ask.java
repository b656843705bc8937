import java.io.InputStream;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/**
 * Prints what a URL answers, logging in to the proxy of the system properties with
 * weir.user and weir.password: by URLConnection, with "client URL" by HttpClient, and with
 * "name HOST PORT" by a socket that gives a SOCKS proxy the name.
 */
public class Ask {
    public static void main(String[] args) throws Exception {
        Authenticator.setDefault(new Authenticator() {
            @Override
            protected PasswordAuthentication getPasswordAuthentication() {
                String user = System.getProperty("weir.user");
                return user == null ? null : new PasswordAuthentication(
                    user, System.getProperty("weir.password").toCharArray());
            }
        });
        switch (args[0]) {
        case "name":
            byName(args[1], args[2]).transferTo(System.out);
            break;
        case "client":
            byClient(args[1]);
            break;
        default:
            new URL(args[0]).openConnection().getInputStream().transferTo(System.out);
        }
        System.out.flush();
    }

    private static void byClient(String url) throws Exception {
        HttpClient.Builder builder = HttpClient.newBuilder();
        if (System.getProperty("weir.user") != null)
            builder.authenticator(Authenticator.getDefault());
        HttpResponse<String> answer = builder.build().send(
            HttpRequest.newBuilder(URI.create(url)).build(),
            HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200)
            throw new Exception("response code: " + answer.statusCode());
        System.out.print(answer.body());
    }

    private static InputStream byName(String host, String port) throws Exception {
        InetSocketAddress proxy = new InetSocketAddress(
            System.getProperty("socksProxyHost"),
            Integer.parseInt(System.getProperty("socksProxyPort")));
        Socket socket = new Socket(new Proxy(Proxy.Type.SOCKS, proxy));
        socket.connect(InetSocketAddress.createUnresolved(host, Integer.parseInt(port)));
        socket.getOutputStream().write(
            ("GET / HTTP/1.0\r\nHost: " + host + "\r\n\r\n").getBytes("US-ASCII"));
        return socket.getInputStream();
    }
}
