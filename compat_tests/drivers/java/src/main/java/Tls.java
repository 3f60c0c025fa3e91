import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Reads the PEM files that the environment names: CQL_CA to trust, CQL_CERT and CQL_KEY to show, if they are set. */
final class Tls {
  private static final char[] NO_PASSWORD = new char[0];

  private Tls() {}

  /** What the driver needs to speak TLS; null: it does not. */
  static SSLContext context() throws Exception {
    String ca = System.getenv("CQL_CA");
    if (ca == null || ca.isEmpty()) {
      return null;
    }
    KeyStore trusted = empty();
    trusted.setCertificateEntry("ca", certificate(ca));
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);

    KeyStore own = empty();
    String shown = System.getenv("CQL_CERT");
    if (shown != null && !shown.isEmpty()) {
      own.setKeyEntry("own", key(System.getenv("CQL_KEY")), NO_PASSWORD, new Certificate[] {certificate(shown)});
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(own, NO_PASSWORD);

    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  private static KeyStore empty() throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, NO_PASSWORD);
    return store;
  }

  private static Certificate certificate(String path) throws Exception {
    return CertificateFactory.getInstance("X.509")
        .generateCertificate(new ByteArrayInputStream(Files.readAllBytes(Path.of(path))));
  }

  private static PrivateKey key(String path) throws Exception {
    String text = Files.readString(Path.of(path), StandardCharsets.US_ASCII).replaceAll("-----[A-Z ]+-----|\\s", "");
    return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
  }
}
