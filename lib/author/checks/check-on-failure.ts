/**
 * Refuses mistakes in the on-failure steps, which follow an end without success.
 *
 * Does not own: the refusals for every agent's step (`check.ts`).
 *
 * P1 on-failure steps may neither hang nor change the end. After a failure any step may lack an output, so an
 * on-failure step that reads one must name a replacement.
 */

import { MAX_DURATION_MS } from '../../core/values/duration.ts';
import { unguarded, whenText } from './check-outcomes.ts';
import { type AgentStep, expressionsOf, ownExpressions, type Plan } from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { nameOf } from '../references.ts';
import { type Reference, refsIn, sourcesIn, stepsIn } from '../../core/plan/refs-in.ts';
import { isJsonObject } from '../../core/values/json.ts';
import { problem, type Problem } from './refusal.ts';

/** The maximum number of on-failure steps, limited because the event of the end names each that fails. */
export const MAX_ON_FAILURE = 20;

interface Checks {
  readonly named: (step: AgentStep, seen: ReadonlySet<string>) => Problem | undefined;
  readonly agent: (step: AgentStep, plan: Plan) => Problem | undefined;
  readonly expression: (expr: Expr) => string | undefined;
}

/** Returns the first problem of an on-failure step, or of all of them together. */
export function onFailureProblem(
  plan: Plan,
  checks: Checks,
): { readonly step?: string; readonly problem: Problem } | undefined {
  const { onFailure } = plan;
  if (onFailure === undefined) return undefined;
  if (onFailure.length === 0 || onFailure.length > MAX_ON_FAILURE) {
    const message = `it has ${onFailure.length} on-failure steps; allowed: 1 to ${MAX_ON_FAILURE}, or leave them out`;
    return { problem: problem('too-many-steps', message) };
  }
  const seen = new Set(plan.steps.map(({ name }) => name));
  for (const step of onFailure) {
    const found = stepProblem(step, seen, plan, checks);
    if (found !== undefined) return { step: step.name, problem: found };
    seen.add(step.name);
  }
  return undefined;
}

function stepProblem(
  step: AgentStep,
  seen: ReadonlySet<string>,
  plan: Plan,
  checks: Checks,
): Problem | undefined {
  if ((step.kind as string) !== 'agent') {
    const message = `it is a step of kind '${step.kind}', but only agents' steps run after the end: write w.onFailure(name, agent, input)`;
    return problem('bad-kind', message);
  }
  return (
    checks.named(step, seen) ??
    optionProblem(step) ??
    // The deadline of the execution does not apply to it.
    checks.agent(step, { ...plan, withinMs: MAX_DURATION_MS }) ??
    orderProblem(step, plan) ??
    readProblem(step, plan, checks)
  );
}

const refused = (what: string, instead: string): Problem =>
  problem('bad-on-failure', `it is an on-failure step, ${what}: ${instead}`);

function optionProblem(step: AgentStep): Problem | undefined {
  const stages = step.recovery.filter((stage) => stage.kind === 'useAgent');
  if ([step, ...stages].some(({ undo }) => undo !== 'none'))
    return refused('which is never undone', "leave 'undo' out");
  if (step.pointOfNoReturn !== undefined)
    return refused('and nothing is undone any more when it begins', "leave 'pointOfNoReturn' out");
  if (step.withinMs !== undefined) return refused('whose time its recovery bounds', "leave 'within' out");
  if (step.tolerate !== undefined)
    return refused('whose failure never changes how the execution ended', "leave 'mayFail' out");
  if (step.recovery.some((stage) => stage.kind === 'askPerson' && stage.otherwise !== 'undo'))
    return refused(
      'and without an answer the execution ends without it',
      "leave 'otherwise' out of its askPerson stage",
    );
  return undefined;
}

/** Refuses an order that differs from the list's. Each step follows those before it, so there is no cycle. */
function orderProblem({ name, after }: AgentStep, plan: Plan): Problem | undefined {
  const own = (plan.onFailure ?? []).map((step) => step.name);
  for (const other of after) {
    if (plan.steps.some((step) => step.name === other))
      return refused(
        `and '${other}' is not one: when this step begins, '${other}' is over or will never begin`,
        `leave it out of 'after', or write 'when: exists(${other}.output)'`,
      );
    if (!own.includes(other))
      return problem(
        'unknown-step',
        `it comes after '${other}', which does not exist: leave it out of 'after'`,
      );
    if (own.indexOf(other) >= own.indexOf(name))
      return problem('cycle', `it comes after '${other}', which must be declared before it`);
  }
  return undefined;
}

const ALLOWED: ReadonlySet<string> = new Set(['input', 'failure']);

function readProblem(step: AgentStep, plan: Plan, { expression }: Checks): Problem | undefined {
  const all = [...plan.steps, ...(plan.onFailure ?? [])].map(({ name }) => name);
  const there = new Set(step.when === undefined ? [] : certainlyThere(step.when));
  for (const expr of expressionsOf(step)) {
    const bad = expression(expr);
    if (bad !== undefined) return problem('bad-expression', `an expression ${bad}`);
    for (const source of sourcesIn(expr)) {
      const [kind, name] = source.split(':');
      if (kind === 'outcome' || (kind === 'failure' && name !== undefined))
        return refused(
          `and '${name}' may have been undone since it passed`,
          `ask with exists(${name}.output), or eq(w.failure.step, '${name}')`,
        );
      if (kind === 'step' ? !all.includes(name ?? '') : !ALLOWED.has(source))
        return problem(
          'bad-expression',
          `it reads '${source}', which an on-failure step cannot: it may read w.input, w.failure and the outputs of steps`,
        );
    }
    const own = (plan.onFailure ?? []).map(({ name }) => name);
    const stranger = stepsIn(expr).find((name) => own.includes(name) && !step.after.includes(name));
    if (stranger !== undefined)
      return problem(
        'not-a-predecessor',
        `it reads the output of '${stranger}', which may not be over before it: add '${stranger}' to 'after'`,
      );
  }
  const missing = unguarded(ownExpressions(step)).find((read) => isMissable(read) && !there.has(read.source));
  // A condition that reads a missing value is false; only the input that is sent must be complete.
  if (missing === undefined) return undefined;
  const read = nameOf(missing.source, missing.path);
  const why =
    missing.source === 'failure'
      ? 'there is no step after a cancel or a deadline'
      : 'after a failure any step may have left none';
  const instead =
    missing.source === 'failure' ? '' : `, or '${whenText(`exists(${read})`, step.when)}' on it`;
  return problem('output-may-be-missing', `it reads ${read}, and ${why}: write orElse(${read}, …)${instead}`);
}

const isMissable = ({ source, path }: Reference): boolean =>
  source.startsWith('step:') || (source === 'failure' && path[0] === 'step');

/**
 * The outputs that a condition proves to exist: `exists(x.output)`, also as one of several that must all be
 * true.
 */
function certainlyThere(when: Expr): string[] {
  if (!isJsonObject(when)) return [];
  const all = when['$and'];
  if (Array.isArray(all)) return (all as Expr[]).flatMap(certainlyThere);
  const asked = when['$exists'] as Expr | undefined;
  return isJsonObject(asked) && Object.hasOwn(asked, '$ref')
    ? refsIn(asked).flatMap(({ source }) => (source.startsWith('step:') ? [source] : []))
    : [];
}
