{#
  Tests of models for dbt, on DuckDB, PostgreSQL and whatever knows count(distinct) and group by.
  Each selects the groups that fall short, by counts alone, so that --store-failures stores no cell.
  A missing value is a value. With `person`, the column that tells persons apart, these are counted and not rows.
#}

{% test k_anonymous(model, quasi_identifiers, k, person=none) %}
select count(*) as n_rows, {{ manyveils.count_persons(person) }} as n_persons
from {{ model }}
group by {{ quasi_identifiers | join(", ") }}
having {{ manyveils.count_persons(person) }} < {{ k }}
{% endtest %}

{% test l_diverse(model, quasi_identifiers, sensitive, l, known=[]) %}
{#- `known`: other sensitive columns that somebody may know of her target. -#}
select count(*) as n_rows, {{ manyveils.count_values(sensitive) }} as n_values
from {{ model }}
group by {{ (quasi_identifiers + known) | join(", ") }}
having {{ manyveils.count_values(sensitive) }} < {{ l }}
{% endtest %}

{% macro count_persons(person) %}{{ manyveils.count_values(person) if person else "count(*)" }}{% endmacro %}

{% macro count_values(column) -%}
(count(distinct {{ column }}) + max(case when {{ column }} is null then 1 else 0 end))
{%- endmacro %}
