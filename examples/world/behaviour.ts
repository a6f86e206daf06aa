/**
 * How the outside world misbehaves on request.
 *
 * Owns: the rules, matching them to calls, and counting. Does not own: the form of a misbehaviour on the wire
 * (`server.ts`).
 */

import * as z from 'zod/mini';
import type { Call, Deed } from './deeds.ts';

/**
 * `slow`: waits, then does the work, even if the caller has given up. `slow-reply`: does the work, then
 * waits. `unavailable`: 503, not done. `decline`: refused for good, not done. `hang`: not done and never
 * answered. `drop-reply`: does the work and closes the connection without an answer.
 */
const Mode = z.enum(['slow', 'slow-reply', 'unavailable', 'decline', 'hang', 'drop-reply']);
export type Mode = z.infer<typeof Mode>;

export const RuleInput = z.object({
  service: z.string(),
  mode: Mode,
  match: z.optional(
    z.object({
      /** The subject of the call: an order, a host. */
      about: z.optional(z.string()),
      /** A part of the reference or key. */
      reference: z.optional(z.string()),
      /** An action other than the service's main one: 'refund', 'lookup', … or 'any'. */
      action: z.optional(z.string()),
    }),
  ),
  /** The delay of the slow modes. */
  ms: z.optional(z.number().check(z.nonnegative(), z.maximum(600_000))),
  /** How many times it applies; without it, forever. */
  times: z.optional(z.int().check(z.positive())),
  /** In seconds, sent with a 503. */
  retryAfter: z.optional(z.int().check(z.nonnegative())),
});
export type RuleInput = z.infer<typeof RuleInput>;

export interface Rule extends RuleInput {
  readonly id: number;
  /** How often it was applied: the proof that a fault really happened. */
  fired: number;
}

export class Behaviour {
  readonly #services: ReadonlySet<string>;
  #rules: Rule[] = [];
  #lastId = 0;

  constructor(deeds: readonly Deed[]) {
    this.#services = new Set(deeds.map(({ service }) => service));
  }

  get rules(): readonly Rule[] {
    return this.#rules;
  }

  /** @throws SyntaxError for a service that does not exist */
  add(input: RuleInput): Rule {
    if (!this.#services.has(input.service))
      throw new SyntaxError(`there is no service '${input.service}', only ${[...this.#services].join(', ')}`);
    this.#lastId += 1;
    const rule: Rule = { ...input, id: this.#lastId, fired: 0 };
    this.#rules.push(rule);
    return rule;
  }

  clear(): void {
    this.#rules = [];
  }

  /** The first rule that applies to this call; counts it as applied. */
  take(call: Call): Rule | undefined {
    const rule = this.#rules.find((candidate) => !usedUp(candidate) && applies(candidate, call));
    if (rule !== undefined) rule.fired += 1;
    return rule;
  }
}

const usedUp = (rule: Rule): boolean => rule.times !== undefined && rule.fired >= rule.times;

function applies(rule: Rule, call: Call): boolean {
  // A rule matches the main action, not queries or the undo, unless it says otherwise.
  const { about, reference, action = call.deed.action } = rule.match ?? {};
  return (
    rule.service === call.deed.service &&
    (action === 'any' || action === call.action) &&
    (about === undefined || about === call.about) &&
    (reference === undefined || call.reference.includes(reference))
  );
}
