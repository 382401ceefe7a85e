-- A second judge, for DuckDB: it derives k, l and t from the files of a release folder, and from nothing else.
-- It was written from docs/release-format.md and docs/promise.md, and shares no code with manyveils.
--
-- Before it runs, three variables are set:
--   folder     the release folder
--   known      names of the attributes that an adversary knows (a folder does not tell roles)
--   protected  names of the attributes that nobody may learn
--
-- It reads csv, takes every row for a person, and judges views in which what is known stands in one column.

CREATE OR REPLACE TEMP TABLE manifest AS
SELECT content::JSON AS document
FROM read_text(getvariable('folder') || '/release.json');

-- One row per published column: the view it belongs to, its file and its attributes.
CREATE OR REPLACE TEMP TABLE published AS
SELECT
    view ->> 'name' AS view,
    (view ->> 'bucketed')::BOOLEAN AS bucketed,
    (view ->> 'rows')::BIGINT AS n_rows,
    getvariable('folder') || '/' || (part ->> 'file') AS file,
    from_json(part -> 'attributes', '["VARCHAR"]') AS attributes
FROM manifest,
    unnest(from_json(document -> 'views', '["JSON"]')) AS views(view),
    unnest(from_json(view -> 'columns', '["JSON"]')) AS parts(part);

SET VARIABLE files = (SELECT list(file ORDER BY file) FROM published);

-- Every record of every file, its cells by name. A missing cell is a value of its own.
CREATE OR REPLACE TEMP TABLE records AS
SELECT row_number() OVER () AS record, filename AS file, to_json(line) AS cells
FROM read_csv(
    getvariable('files'),
    header = true, all_varchar = true, delim = ',', quote = '"', escape = '"',
    union_by_name = true, filename = true
) AS line;

-- The view in which a column stands, and whether anything that is known stands there.
CREATE OR REPLACE TEMP TABLE placed AS
SELECT
    *,
    list_filter(attributes, lambda name: list_contains(getvariable('known'), name)) AS known_here,
    bool_or(list_has_any(attributes, getvariable('known'))) OVER (PARTITION BY view) AS is_found
FROM published;

-- Who is found: the rows of one bucket, told apart by what is known in the column itself.
-- Without buckets, the rows that are alike in what is known; if nothing known stands in the view, all rows.
CREATE OR REPLACE TEMP TABLE seen AS
SELECT
    placed.view,
    attribute,
    [
        CASE WHEN bucketed AND is_found THEN cells ->> 'bucket' ELSE '' END,
        to_json(list_transform(known_here, lambda name: coalesce(cells ->> name, '')))::VARCHAR
    ] AS crowd,
    coalesce(cells ->> attribute, '') AS value
FROM placed
JOIN records USING (file),
    unnest(list_filter(attributes, lambda name: list_contains(getvariable('protected'), name))) AS shown(attribute);

CREATE OR REPLACE TEMP TABLE counted AS
SELECT view, attribute, crowd, value, count(*) AS n
FROM seen
GROUP BY ALL;

-- Shares of values in a group, and in all rows that are published.
CREATE OR REPLACE TEMP TABLE shares AS
SELECT
    *,
    sum(n) OVER (PARTITION BY view, attribute, crowd) AS size,
    sum(n) OVER (PARTITION BY view, attribute, value)
        / sum(n) OVER (PARTITION BY view, attribute) AS overall
FROM counted;

-- With the equal ground distance, the earth mover's distance is what a group has too much of, summed over values.
CREATE OR REPLACE TEMP TABLE judged AS
SELECT
    view,
    attribute,
    crowd,
    any_value(size) AS k,
    count(*) AS l,
    sum(greatest(n / size - overall, 0)) AS t
FROM shares
GROUP BY ALL;

-- Columns of a view have as many rows in every bucket, and as many in all as the manifest says.
CREATE OR REPLACE TEMP TABLE disagreeing AS
SELECT view
FROM (
    SELECT view, file, n_rows, bucketed, cells ->> 'bucket' AS bucket, count(*) AS n
    FROM published JOIN records USING (file)
    GROUP BY ALL
)
GROUP BY view
HAVING sum(n) <> any_value(n_rows) * count(DISTINCT file)
    OR count(DISTINCT (bucket, n)) <> count(DISTINCT bucket) AND any_value(bucketed)
    OR count(*) <> count(DISTINCT file) * greatest(count(DISTINCT bucket), 1);

SELECT
    view,
    attribute,
    count(*) AS groups,
    min(k)::BIGINT AS k,
    min(l)::BIGINT AS l,
    max(t) AS t,
    view IN (SELECT view FROM disagreeing) AS disagrees
FROM judged
GROUP BY view, attribute
ORDER BY view, attribute;
