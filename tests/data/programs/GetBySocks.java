import java.io.InputStream;
import java.net.Authenticator;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.Socket;
import java.net.URL;

/**
 * Prints what a URL answers, logging in to the proxy of the system properties with
 * weir.user and weir.password; or, with "name HOST PORT", asks by a socket that gives a
 * SOCKS proxy the name.
 */
public class GetBySocks {
    public static void main(String[] args) throws Exception {
        Authenticator.setDefault(new Authenticator() {
            @Override
            protected PasswordAuthentication getPasswordAuthentication() {
                String user = System.getProperty("weir.user");
                return user == null ? null : new PasswordAuthentication(
                    user, System.getProperty("weir.password").toCharArray());
            }
        });
        InputStream body = args[0].equals("name") ? byName(args[1], args[2])
            : ((HttpURLConnection) new URL(args[0]).openConnection()).getInputStream();
        body.transferTo(System.out);
        System.out.flush();
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
