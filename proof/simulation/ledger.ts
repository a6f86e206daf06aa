/**
 * The external services' own ledger: which effects took place, by effect key and by the service that
 * performed them. Independent of the state table.
 *
 * Owns: the truth about effects, and its violations. An `idempotent` service has the effect of one key once
 * until it is undone; any other has it again with every request. How services treat a key that they know is
 * drawn for a world.
 *
 * S6 no effect twice, at no service. S10 no forward effect after its undo began; compensated means that
 * nothing is left; the agent that performed an effect also undoes it, with the same input. S18 a known key
 * gets no other request.
 */

import type { Effect } from '../../lib/core/plan/agent.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { canonicalJson, type Json } from '../../lib/core/values/json.ts';

/** How a service treats a known key: it acts again, repeats its answer, or refuses another request. */
export const KEY_MODES = ['acts', 'replays', 'refuses'] as const;
export type KeyMode = (typeof KEY_MODES)[number];

/** The service that is asked, and its input. */
export interface Request {
  readonly service: string;
  readonly input: unknown;
}

interface Entry {
  /** The first request under the key. */
  readonly of: string;
  /** Effects in place, by service. */
  readonly live: Map<string, number>;
  undoBegan: boolean;
}

/** All keys of one step of one execution; a later key continues where the first one ends. */
interface Place {
  readonly keys: Map<string, Entry>;
  performed: number;
}

const placeOf = (key: string): string => key.replace(/-\d+$/, '');
const textOf = ({ service, input }: Request): string =>
  `${service} ${canonicalJson((input ?? null) as Json)}`;

export class Ledger {
  readonly #mode: KeyMode;
  readonly #places = new Map<string, Place>();
  readonly violations: string[] = [];
  /** Places for which a probe said, under any of their keys, that undone work is done. */
  readonly #mistaken = new Set<string>();
  /** Lives of executions that were erased: nothing of them acts, or is undone, any more. */
  erased: ReadonlySet<string> = new Set();

  constructor(mode: KeyMode = 'acts') {
    this.#mode = mode;
  }

  #place(key: string): Place {
    let place = this.#places.get(placeOf(key));
    if (place === undefined) {
      place = { keys: new Map(), performed: 0 };
      this.#places.set(placeOf(key), place);
    }
    return place;
  }

  /** @throws PermanentError of a service that refuses another request under a key that it knows */
  perform(key: string, request: Request, effect: Effect): void {
    this.#judgeErased(key);
    const place = this.#place(key);
    const before = place.keys.get(key);
    const entry = before ?? { of: textOf(request), live: new Map<string, number>(), undoBegan: false };
    place.keys.set(key, entry);
    const isOther = entry.of !== textOf(request);
    if (isOther) this.violations.push(`S18 ${key}: ${entry.of}, then ${textOf(request)}`);
    if (isOther && this.#mode === 'refuses')
      throw new PermanentError('the key is known with another request');
    if (entry.undoBegan) this.violations.push(`S10 ${key}: a forward effect after its undo began`);
    const live = entry.live.get(request.service) ?? 0;
    if (effect === 'idempotent' && (live > 0 || (before !== undefined && this.#mode === 'replays'))) return;
    for (const [other, { live: standing }] of place.keys)
      if (other !== key && standing.size > 0)
        this.violations.push(`S18 ${key}: the effect under ${other} is in place`);
    entry.live.set(request.service, live + 1);
    place.performed += 1;
    if (place.performed > 1)
      this.violations.push(`S6 ${key}: the effect took place ${place.performed} times`);
  }

  #judgeErased(key: string): void {
    const life = placeOf(key).split('.').at(-1) ?? '';
    if (this.erased.has(life)) this.violations.push(`E1 ${key}: it is asked for after its erasure`);
  }

  /** Allows repeated calls, as an undo must. */
  undo(key: string, request: Request): void {
    this.#judgeErased(key);
    const place = this.#place(key);
    const entry: Entry = place.keys.get(key) ?? { of: textOf(request), live: new Map(), undoBegan: true };
    place.keys.set(key, entry);
    if (entry.of !== textOf(request))
      this.violations.push(`S10 ${key}: ${entry.of} was performed, ${textOf(request)} is undone`);
    entry.undoBegan = true;
    // A next stage may have its own service.
    place.performed -= entry.live.get(request.service) ?? 0;
    entry.live.delete(request.service);
  }

  /** The service gives up work that it had accepted: nothing of it is in effect. */
  dropped(key: string, { service }: Request): void {
    const place = this.#place(key);
    const entry = place.keys.get(key);
    place.performed -= entry?.live.get(service) ?? 0;
    entry?.live.delete(service);
    // It forgets the key with the work.
    if (entry?.live.size === 0 && !entry.undoBegan) place.keys.delete(key);
  }

  /** The agent that had to do the work asks its service what was done under the key. */
  find(key: string, request: Request): boolean {
    const entry = this.#place(key).keys.get(key);
    if (entry !== undefined && entry.of !== textOf(request))
      this.violations.push(`S18 ${key}: ${entry.of} was performed, ${textOf(request)} is asked for`);
    return entry?.live.has(request.service) === true;
  }

  /** A person undoes all effects of a step by hand. @param key any of its keys */
  undoByHand(key: string): void {
    const place = this.#place(key);
    for (const entry of place.keys.values()) {
      entry.undoBegan = true;
      entry.live.clear();
    }
    place.performed = 0;
  }

  mistake(key: string): void {
    this.#mistaken.add(placeOf(key));
  }

  isMistaken(key: string): boolean {
    return this.#mistaken.has(placeOf(key));
  }

  /** Whether anything of a step is in effect. @param key any of its keys */
  isLive(key: string): boolean {
    return [...(this.#places.get(placeOf(key))?.keys.values() ?? [])].some(({ live }) => live.size > 0);
  }
}
