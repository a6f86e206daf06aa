/**
 * Lists every action of every policy with the template without it, and finds actions that a run does not
 * need.
 */

import { Access } from '../../local/iam/access.ts';
import type { AccessRequest, StackPolicies } from '../../local/iam/stack-policies.ts';
import { linesOf, namerOf, policiesOf, resolved } from '../infra/named-permissions.ts';
import type { Row } from '../infra/permissions.ts';
import { isRecord, type Json } from '../../local/template/json.ts';

export interface PolicyAction {
  /** The logical id, and the statement in it. */
  readonly place: string;
  readonly effect: 'Allow' | 'Deny';
  readonly action: string;
  /** A copy of the template without this action. */
  readonly without: (template: Json) => Json;
}

/** Types of policies for resources that do not run locally, so that no request needs them. */
const NOT_ASKED: ReadonlySet<unknown> = new Set(['AWS::SNS::TopicPolicy', 'AWS::KMS::Key']);

export interface RunOfStack {
  readonly template: Json;
  readonly stackName: string;
  /** All requests of the run. */
  readonly requests: readonly AccessRequest[];
  /** Permissions that the run may leave unused. */
  readonly mayBeIdle: readonly Row[];
}

/** The refusals of requests by these policies. */
export function refusals(requests: readonly AccessRequest[], policies: StackPolicies): string[] {
  const access = new Access(policies, () => undefined);
  for (const { who, action, resource, context } of requests) access.check(who, action, resource, context);
  return access.denials().map(({ message }) => message);
}

/**
 * The actions whose removal a run does not notice: no request is refused although the action must not be
 * idle, or a refusal does not name it.
 */
export function unnoticed(actions: readonly PolicyAction[], run: RunOfStack): string[] {
  const { template, stackName, requests } = run;
  const mayBeIdle = linesOf(run.mayBeIdle, {});
  const policies = (changed: Json): StackPolicies => policiesOf(resolved(changed, stackName));
  const allowed = (of: StackPolicies): string[] =>
    of.permissions().map(namerOf(resolved(template, stackName)));
  const whole = allowed(policies(template));
  const missed = actions.filter(({ action, without }) => {
    const changed = policies(without(template));
    const refused = refusals(requests, changed);
    const named = refused.filter((message) => message.includes(`perform: ${action} on resource: arn:aws:`));
    if (refused.length > 0) return named.length < refused.length;
    // One by one: two permissions may have the same text.
    const lost = [...whole];
    for (const line of allowed(changed)) lost.splice(lost.indexOf(line), 1);
    return lost.length === 0 || !lost.every((line) => mayBeIdle.includes(line));
  });
  return missed.map(({ place, action }) => `${place} ${action}`);
}

type Path = readonly (string | number)[];

export function policyActions(template: Json): PolicyAction[] {
  const resources = recordAt(template, ['Resources']);
  return Object.keys(resources).flatMap((id) => {
    const place: Path = ['Resources', id];
    const type = recordAt(template, place)['Type'];
    if (NOT_ASKED.has(type)) return [];
    if (type === 'AWS::Lambda::Permission') {
      const action = String(recordAt(template, [...place, 'Properties'])['Action']);
      return [
        { place: id, effect: 'Allow' as const, action, without: (whole: Json) => removed(whole, place) },
      ];
    }
    return statementsBelow(template, [...place, 'Properties']).flatMap((statement) =>
      actionsOf(template, id, statement),
    );
  });
}

function actionsOf(template: Json, id: string, path: Path): PolicyAction[] {
  const { Action, Effect } = recordAt(template, path);
  const actions = [Action ?? []].flat().map(String);
  return actions.map((action) => ({
    place: `${id} ${path.slice(3).join('.')}`,
    effect: Effect === 'Deny' ? 'Deny' : 'Allow',
    action,
    without: (whole) => {
      if (actions.length === 1) return removed(whole, path);
      const copy = structuredClone(whole);
      recordAt(copy, path)['Action'] = actions.filter((each) => each !== action);
      return copy;
    },
  }));
}

/** The positions of policy statements: every object with an effect. */
function statementsBelow(template: Json, path: Path): Path[] {
  const value = at(template, path);
  if (isRecord(value) && (value['Effect'] === 'Allow' || value['Effect'] === 'Deny')) return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : isRecord(value) ? Object.keys(value) : [];
  return keys.flatMap((key) => statementsBelow(template, [...path, key]));
}

function removed(template: Json, path: Path): Json {
  const copy = structuredClone(template);
  const parent = at(copy, path.slice(0, -1));
  const last = path.at(-1);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (isRecord(parent)) delete parent[String(last)];
  return copy;
}

function at(value: Json, path: Path): Json {
  return path.reduce<Json>(
    (inner, key) => (Object(inner) as Record<string | number, Json>)[key] ?? null,
    value,
  );
}

function recordAt(value: Json, path: Path): Record<string, Json> {
  const found = at(value, path);
  if (!isRecord(found)) throw new Error(`nothing at ${path.join('.')}`);
  return found;
}
