/** The filters above the list, stored in the page's address. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { instantOf } from '../../lib/view/text.ts';
import { useLive } from '../live.ts';
import { ChoiceField, TextField } from '../parts/fields.tsx';
import { Folded } from '../parts/folded.tsx';
import { addressOf, go } from '../router.ts';
import { deployed } from '../workflows/deployed.ts';
import { type Filters, NAMES, SINCE_OPTIONS, STATUS_OPTIONS } from './filters.ts';
import { serverTime } from '../clock.ts';

/** The most common filters. */
const USUAL: readonly (readonly [string, Filters])[] = [
  ['all', {}],
  ['open', { status: 'open' }],
  ['at risk', { atRisk: 'true' }],
  ['waiting for people', { status: 'waiting' }],
  ['ended without success in 24 h', { status: 'bad', since: '24h' }],
];

const isInstant = (text: string | undefined): boolean =>
  text === undefined || !Number.isNaN(instantOf(text, serverTime.now()));

const isSame = (one: Filters, other: Filters): boolean => NAMES.every((name) => one[name] === other[name]);

export const UsualFilters = ({ filters }: { filters: Filters }): JSX.Element => (
  <nav class="chips" aria-label="Usual filters">
    {USUAL.map(([label, one]) => (
      <a
        key={label}
        href={addressOf(['executions'], { ...one })}
        aria-current={isSame(one, filters) ? 'true' : undefined}
      >
        {label}
      </a>
    ))}
  </nav>
);

/** The bar. A narrow page folds it, and lists the active filters. */
export function FilterBar({ filters }: { filters: Filters }): JSX.Element {
  const set = NAMES.filter((name) => filters[name] !== undefined);
  return (
    <Folded
      summary={
        set.length === 0 ? 'Filters' : `Filters: ${set.map((name) => `${name} ${filters[name]}`).join(', ')}`
      }
    >
      <Fields filters={filters} />
    </Folded>
  );
}

function Fields({ filters }: { filters: Filters }): JSX.Element {
  const fields = {
    status: useSignal(''),
    workflow: useSignal(''),
    since: useSignal(''),
    code: useSignal(''),
    key: useSignal(''),
    plan: useSignal(''),
    tag: useSignal(''),
  };
  const names = Object.keys(fields) as (keyof typeof fields)[];
  useEffect(() => {
    for (const name of names) fields[name].value = filters[name] ?? '';
  }, [JSON.stringify(filters)]);
  const workflows = useLive('workflows', deployed);
  const apply = (event?: Event): void => {
    event?.preventDefault();
    const { atRisk, until } = filters;
    const given = Object.fromEntries(names.map((name) => [name, fields[name].value.trim()]));
    go(['executions'], { ...given, atRisk, until });
  };
  const chosen = filters.workflow === undefined ? {} : { [filters.workflow]: filters.workflow };
  const known = Object.fromEntries((workflows.data ?? []).map(({ workflow }) => [workflow, workflow]));
  const tags = [...new Set((workflows.data ?? []).flatMap(({ search = [] }) => search))].sort();
  const options: (readonly [string, string])[] = [
    ['', 'any workflow'],
    ...Object.entries({ ...known, ...chosen }),
  ];
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filters"
      onSubmit={apply}
      onChange={(event) => event.target instanceof HTMLSelectElement && apply()}
    >
      <ChoiceField label="Status" text={fields.status} options={STATUS_OPTIONS} />
      <ChoiceField label="Workflow" text={fields.workflow} options={options} />
      <TextField
        label="Since"
        placeholder="24h, 09:00"
        text={fields.since}
        offered={SINCE_OPTIONS}
        problem={isInstant(filters.since) ? undefined : 'as 24h, 09:00 or 2026-01-02T03:04'}
      />
      <TextField label="Code" placeholder="card-declined" text={fields.code} />
      <TextField label="Idempotency key" placeholder="order-4711" text={fields.key} />
      {tags.length === 0 && filters.tag === undefined ? null : (
        <TextField
          label="Tag"
          placeholder={`${tags[0] ?? 'name'}:value`}
          text={fields.tag}
          offered={tags.map((name) => `${name}:`)}
        />
      )}
      <TextField label="Plan" placeholder="old, or its hash" text={fields.plan} offered={['old']} />
      <button type="submit">Show</button>
    </form>
  );
}
