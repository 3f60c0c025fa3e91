import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.functions.Arguments;
import org.apache.cassandra.cql3.functions.FunctionName;
import org.apache.cassandra.cql3.functions.UDFunction;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.TypeParser;
import org.apache.cassandra.transport.ProtocolVersion;

/**
 * Compiles and calls functions as Cassandra does, without a server. A line is one function: whether it is called with
 * null, its body in base64, the class of its result, and name:class of each argument, with tabs in between. A line that
 * begins with a tab calls the last one with values in hexadecimal, or null. An answer is "value hex", "null", "thrown
 * base64" or "refused base64".
 */
public class Oracle
{
    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization(false);
        DatabaseDescriptor.getRawConfig().user_defined_functions_enabled = true;
        DatabaseDescriptor.getRawConfig().user_defined_functions_threads_enabled = false;
        DatabaseDescriptor.getRawConfig().allow_insecure_udfs = true;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        UDFunction function = null;
        for (String line; (line = in.readLine()) != null; )
        {
            if (line.startsWith("\t"))
            {
                System.out.println(call(function, line.substring(1).split("\t", -1)));
                continue;
            }
            String[] parts = line.split("\t");
            List<ColumnIdentifier> names = new ArrayList<>();
            List<AbstractType<?>> types = new ArrayList<>();
            for (int i = 3; i < parts.length; i++)
            {
                int colon = parts[i].indexOf(':');
                names.add(ColumnIdentifier.getInterned(parts[i].substring(0, colon), true));
                types.add(TypeParser.parse(parts[i].substring(colon + 1)).udfType());
            }
            try
            {
                function = UDFunction.create(new FunctionName("ks", "f"), names, types, TypeParser.parse(parts[2]).udfType(),
                                             parts[0].equals("true"), "java", new String(Base64.getDecoder().decode(parts[1]), "UTF-8"));
                System.out.println("compiled");
            }
            catch (Exception e)
            {
                function = null;
                System.out.println("refused " + encode(e.getMessage()));
            }
        }
    }

    static String call(UDFunction function, String[] values)
    {
        if (function == null)
            return "refused " + encode("no function");
        Arguments arguments = function.newArguments(ProtocolVersion.V5);
        for (int i = 0; i < values.length && function.argTypes().size() > 0; i++)
            arguments.set(i, values[i].equals("null") ? null : ByteBuffer.wrap(HexFormat.of().parseHex(values[i])));
        try
        {
            ByteBuffer result = function.execute(arguments);
            if (result == null)
                return "null";
            byte[] bytes = new byte[result.remaining()];
            result.duplicate().get(bytes);
            return "value " + HexFormat.of().formatHex(bytes);
        }
        catch (Throwable e)
        {
            return "thrown " + encode(e.getMessage());
        }
    }

    static String encode(String text)
    {
        return Base64.getEncoder().encodeToString(String.valueOf(text).getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }
}
