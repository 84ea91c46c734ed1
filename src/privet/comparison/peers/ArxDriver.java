import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.EqualDistanceTCloseness;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/** ARX (full-domain search) on a table in codes: what each row shows then. */
public class ArxDriver {

    public static void main(String[] given) throws IOException {
        Path folder = Path.of(given[0]);
        Properties asked = new Properties();
        try (var reader = Files.newBufferedReader(folder.resolve("request.properties"))) {
            asked.load(reader);
        }
        String[] quasi = asked.getProperty("quasi").split(",");
        Data data = Data.create(folder.resolve("rows.csv").toString(),
                                StandardCharsets.US_ASCII, ',');
        for (String column : quasi) {
            data.getDefinition().setAttributeType(column, readLevels(folder, column));
        }
        ARXConfiguration config = configure(asked);
        boolean secret = !blank(asked, "l") || !blank(asked, "t");
        data.getDefinition().setAttributeType(
            "s", secret ? AttributeType.SENSITIVE_ATTRIBUTE
                        : AttributeType.INSENSITIVE_ATTRIBUTE);
        ARXResult result = new ARXAnonymizer().anonymize(data, config);
        if (!result.isResultAvailable()) {
            Files.writeString(folder.resolve("failed.txt"), "no-solution");
            return;
        }
        write(folder, quasi, result.getOutput(false));
    }

    private static boolean blank(Properties asked, String key) {
        return asked.getProperty(key, "").isEmpty();
    }

    private static Hierarchy readLevels(Path folder, String column) throws IOException {
        List<String[]> lines = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve(column + ".csv"))) {
            lines.add(line.split(";"));
        }
        return Hierarchy.create(lines.toArray(new String[0][]));
    }

    private static ARXConfiguration configure(Properties asked) {
        ARXConfiguration config = ARXConfiguration.create();
        config.addPrivacyModel(new KAnonymity(Integer.parseInt(asked.getProperty("k"))));
        if (!blank(asked, "l")) {
            int least = Integer.parseInt(asked.getProperty("l"));
            config.addPrivacyModel(new DistinctLDiversity("s", least));
        }
        if (!blank(asked, "t")) {
            double most = Double.parseDouble(asked.getProperty("t"));
            config.addPrivacyModel(new EqualDistanceTCloseness("s", most));
        }
        config.setSuppressionLimit(Double.parseDouble(asked.getProperty("suppress")));
        config.setQualityModel(Metric.createLossMetric());
        return config;
    }

    private static void write(Path folder, String[] quasi, DataHandle shown)
            throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("row," + String.join(",", quasi));
        int[] at = new int[quasi.length];
        for (int i = 0; i < quasi.length; i++) {
            at[i] = shown.getColumnIndexOf(quasi[i]);
        }
        for (int row = 0; row < shown.getNumRows(); row++) {
            StringBuilder line = new StringBuilder().append(row);
            boolean out = shown.isOutlier(row);
            for (int column : at) {
                line.append(',').append(out ? "*" : shown.getValue(row, column));
            }
            lines.add(line.toString());
        }
        Files.write(folder.resolve("labels.csv"), lines);
    }
}
