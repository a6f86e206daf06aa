/**
 * The external services' own ledger: which effects took place, by effect key and by the service that
 * performed them. Independent of the state table.
 *
 * Owns: the truth about effects and what of it is wrong. An `idempotent` service has the effect of one key
 * once until it is undone; any other has it again with every request. What services do with a key that
 * they know is drawn for a world.
 *
 * S6 no effect twice, at no service. S10 no forward effect after its undo began; compensated means that
 * nothing is left; what is taken back is taken back by the agent that performed it, with the same input. S18
 * nothing else is asked for under a known key.
 */

import type { Effect } from '../../lib/core/plan/agent.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { canonicalJson, type Json } from '../../lib/core/values/json.ts';

/**
 * Under a key that a service knows: it acts again, answers what it answered then, or refuses another request.
 */
export const KEY_MODES = ['acts', 'replays', 'refuses'] as const;
export type KeyMode = (typeof KEY_MODES)[number];

/** Who is asked, and with which input. */
export interface Request {
  readonly service: string;
  readonly input: unknown;
}

interface Entry {
  /** The first request under the key. */
  readonly of: string;
  /** By service: effects in place. */
  readonly live: Map<string, number>;
  undoBegan: boolean;
}

/** All keys of one step of one execution; a later key goes on where the first one ends. */
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
  /** Places of which a probe has said of what was not done that it is, under whatever key of theirs. */
  readonly #mistaken = new Set<string>();
  /** Lives of executions that were erased: nothing of them acts, or is taken back, any more. */
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

  /** Bears being called again, as an undo must. */
  undo(key: string, request: Request): void {
    this.#judgeErased(key);
    const place = this.#place(key);
    const entry: Entry = place.keys.get(key) ?? { of: textOf(request), live: new Map(), undoBegan: true };
    place.keys.set(key, entry);
    if (entry.of !== textOf(request))
      this.violations.push(`S10 ${key}: ${entry.of} was performed, ${textOf(request)} is undone`);
    entry.undoBegan = true;
    // A next stage may have its own.
    place.performed -= entry.live.get(request.service) ?? 0;
    entry.live.delete(request.service);
  }

  /** The service gives up work that it had accepted: nothing of it is in effect. */
  dropped(key: string, { service }: Request): void {
    const place = this.#place(key);
    const entry = place.keys.get(key);
    place.performed -= entry?.live.get(service) ?? 0;
    entry?.live.delete(service);
    // It forgets the key with it.
    if (entry?.live.size === 0 && !entry.undoBegan) place.keys.delete(key);
  }

  /** The external service is asked for what was done under the key, by the agent that was to do it. */
  find(key: string, request: Request): boolean {
    const entry = this.#place(key).keys.get(key);
    if (entry !== undefined && entry.of !== textOf(request))
      this.violations.push(`S18 ${key}: ${entry.of} was performed, ${textOf(request)} is asked for`);
    return entry?.live.has(request.service) === true;
  }

  /** A person undoes by hand whatever there is of a step. @param key any of its keys */
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
