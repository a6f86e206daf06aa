/**
 * Checks every request in a running cloud against the policies, and records refusals, used permissions and
 * requests. Does not own: the policies (stack-policies.ts), the form of a refusal on the wire (answers.ts).
 * The gateway, mappings, buses and APIs call it.
 *
 * Invariants
 * - I1 a refusal is recorded and reported, even if its caller ignores it.
 */
import type { Verdict } from './evaluate.ts';
import type { Context } from './match.ts';
import { nameOf } from './principals.ts';
import type { AccessRequest, Permission, StackPolicies } from './stack-policies.ts';

/** A request that was refused. */
export interface Denial {
  /** The caller: the logical id of a function, or a service. */
  readonly who: string;
  readonly action: string;
  readonly resource: string;
  /** The refusal in AWS's words. */
  readonly message: string;
  readonly count: number;
}

/** A permission, and how often it was needed. */
export interface PermissionUse extends Permission {
  readonly uses: number;
}

interface Use {
  count: number;
}

interface Known {
  readonly request: AccessRequest;
  readonly verdict: Verdict;
  /** The statements that allow it. */
  readonly uses: readonly Use[];
}

/** The most distinct requests in memory; only conditions on the content of requests can lead to many. */
const REMEMBERED = 10_000;

export class Access {
  readonly #policies: StackPolicies;
  readonly #onDenied: (denial: Denial) => void;
  /** Earlier verdicts: the policies of a running stack do not change. */
  readonly #known = new Map<string, Known>();
  readonly #uses = new Map<string, Use>();
  readonly #denials = new Map<string, Denial>();

  constructor(policies: StackPolicies, onDenied: (denial: Denial) => void) {
    this.#policies = policies;
    this.#onDenied = onDenied;
  }

  /** The refusal; undefined if the request is allowed, or its principal is not checked. */
  check(who: string, action: string, resource: string, context: Context = {}): Denial | undefined {
    if (!this.#policies.checks(who)) return undefined;
    const { request, verdict, uses } = this.#decide({ who, action, resource, context });
    if (!verdict.allowed) return this.#denied(request, verdict.because);
    for (const use of uses) use.count += 1;
    return undefined;
  }

  /** Refuses a request that cannot be checked because the call is unknown. */
  refuse(who: string, action: string): Denial | undefined {
    if (!this.#policies.checks(who)) return undefined;
    const because = 'because it cannot be checked here: which permissions it needs is not known';
    return this.#denied({ who, action, resource: '*', context: {} }, because);
  }

  denials(): Denial[] {
    return [...this.#denials.values()];
  }

  /** Every permission of the stack with the number of requests that needed it. */
  permissions(): PermissionUse[] {
    return this.#policies
      .permissions()
      .map((each) => ({ ...each, uses: this.#uses.get(keyOf(each))?.count ?? 0 }));
  }

  /** The different requests that were made. */
  requests(): AccessRequest[] {
    return [...this.#known.values()].map(({ request }) => request);
  }

  /** Forgets refusals, uses and requests. */
  reset(): void {
    for (const each of [this.#known, this.#uses, this.#denials]) each.clear();
  }

  #decide(request: AccessRequest): Known {
    const context = this.#policies.relevant(request.context);
    const key = [request.who, request.action, request.resource, JSON.stringify(context)].join(' ');
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const verdict = this.#policies.decide(request);
    const grants = verdict.allowed ? verdict.grants : [];
    const uses = grants.map((grant) => this.#useOf(keyOf({ who: request.who, ...grant })));
    const known = { request: { ...request, context }, verdict, uses };
    if (this.#known.size < REMEMBERED) this.#known.set(key, known);
    return known;
  }

  #useOf(key: string): Use {
    const use = this.#uses.get(key) ?? { count: 0 };
    this.#uses.set(key, use);
    return use;
  }

  #denied({ who, action, resource }: AccessRequest, because: string): Denial {
    const user = nameOf(this.#policies.principalOf(who));
    const message = `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ${because}`;
    const key = [who, action, resource].join(' ');
    const before = this.#denials.get(key);
    const denial = { who, action, resource, message, count: (before?.count ?? 0) + 1 };
    this.#denials.set(key, denial);
    // Reports each refusal once, however often the caller tries.
    if (before === undefined) this.#onDenied(denial);
    return denial;
  }
}

const keyOf = ({ who, place, action, resource }: Permission): string =>
  [who, place, action, resource].join(' ');
