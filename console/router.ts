/**
 * Reads and changes the page's place: its address after `#`, such as `#/executions/<id>?step=ship`.
 *
 * Owns: the place as a signal, and the addresses of places. Does not own: the view of a place (`shell.tsx`).
 */

import { computed, signal } from '@preact/signals';

export interface Place {
  /** The parts of the path, such as ['executions', '<id>']; empty for the start page. */
  readonly path: readonly string[];
  readonly query: ReadonlyMap<string, string>;
}

export type Query = Readonly<Record<string, string | undefined>>;

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const place = computed<Place>(() => placeOf(hash.value));

export function placeOf(text: string): Place {
  const [path = '', query = ''] = text.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path.split('/').filter(Boolean).map(decoded),
    query: new Map(new URLSearchParams(query)),
  };
}

/** Decodes a part of an address, which may be malformed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function addressOf(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

export function go(path: readonly string[], query: Query = {}): void {
  location.hash = addressOf(path, query);
}

/** Changes parts of the query, without an entry in the browser's history. */
export function refine(change: Query): void {
  const { path, query } = place.value;
  const address = addressOf(path, { ...Object.fromEntries(query), ...change });
  history.replaceState(null, '', address);
  hash.value = address;
}
