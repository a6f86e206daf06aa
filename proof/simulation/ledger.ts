/**
 * The external services' ledger: records all effects by effect key and service, independently of the state
 * table.
 *
 * Owns: the truth about effects, and finding violations. An `idempotent` service performs the effect of a key
 * once until it is undone; other services perform it with every request. How services treat a known key is
 * drawn for each world.
 *
 * S6 no effect occurs twice at a service. S10 no effect occurs after its undo began; 'compensated' means that
 * no effect is left; an effect is undone by the agent that performed it, with the same input. S18 a known key
 * never gets a different request.
 */

import type { Effect } from '../../lib/core/plan/agent.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { canonicalJson, type Json } from '../../lib/core/values/json.ts';

/** How a service treats a known key: it acts again, repeats its answer, or refuses a different request. */
export const KEY_MODES = ['acts', 'replays', 'refuses'] as const;
export type KeyMode = (typeof KEY_MODES)[number];

/** The called service, and the input. */
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

/** The effects of all keys of one step; later keys extend the first one. */
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
  /** Steps for which a probe has wrongly reported work as done. */
  readonly #mistaken = new Set<string>();
  /** The lives of erased executions: none of their steps may act or be undone. */
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

  /** @throws PermanentError if the service refuses a different request under a known key */
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

  /** Records that the service gave up accepted work, so that it has no effect. */
  dropped(key: string, { service }: Request): void {
    const place = this.#place(key);
    const entry = place.keys.get(key);
    place.performed -= entry?.live.get(service) ?? 0;
    entry?.live.delete(service);
    // The service forgets the key too.
    if (entry?.live.size === 0 && !entry.undoBegan) place.keys.delete(key);
  }

  /** A probe by the agent: whether its service has performed the request. */
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

  /** Whether a step has an effect in place. @param key any of its keys */
  isLive(key: string): boolean {
    return [...(this.#places.get(placeOf(key))?.keys.values() ?? [])].some(({ live }) => live.size > 0);
  }
}
