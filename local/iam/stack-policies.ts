/**
 * Finds the policies of a resolved stack that apply to a request: those of the caller's role, and those of
 * the resource. Does not own: the decision (evaluate.ts), counts (access.ts).
 *
 * Why our own: the evaluators on npm are under the AGPL, and AWS's policy simulator needs an account. Unknown
 * parts refuse, so a gap can only refuse too much.
 *
 * Invariants
 * - I1 a policy outside the stack (of an external role, or an external managed policy) is listed in
 *   `notes`. A request that only it would allow is refused.
 */
import type { ResolvedResource, ResolvedTemplate } from '../template/template.ts';
import { isRecord, type Json } from '../template/json.ts';
import { evaluate, type Grant, grantsOf, type Verdict } from './evaluate.ts';
import { managedPolicy } from './managed-policies.ts';
import type { Context } from './match.ts';
import type { Principal } from './principals.ts';
import { readResourcePolicies, type ResourcePolicy } from './resource-policies.ts';
import { readStatements, type Statement } from './statement.ts';

/** A caller, an action and a resource. */
export interface AccessRequest {
  /**
   * Logical id of a function or schedule, for its role; otherwise a service, such as `events.amazonaws.com`.
   */
  readonly who: string;
  readonly action: string;
  readonly resource: string;
  /** Condition keys of this request, besides those of every request. */
  readonly context: Context;
}

/** A permission that a statement gives to a principal. */
export interface Permission extends Grant {
  /** The caller as in `AccessRequest`; `*` for everyone. */
  readonly who: string;
}

interface Role {
  readonly arn: string;
  readonly name: string;
  readonly identity: readonly Statement[];
  readonly boundary: readonly Statement[] | undefined;
  /** Managed policies whose contents are not known here. */
  readonly unknown: readonly string[];
}

interface Actor {
  /** The service that acts with the role. */
  readonly service: string;
  readonly role: Role;
  readonly principal: Principal;
}

export class StackPolicies {
  /** Texts about policies that are unknown or not checked. */
  readonly notes: readonly string[];
  readonly #actors = new Map<string, Actor>();
  /** Condition keys that any policy uses, in small letters. */
  readonly #asked: ReadonlySet<string>;
  readonly #resourcePolicies: readonly ResourcePolicy[];
  readonly #place: { readonly region: string; readonly accountId: string };

  constructor(template: ResolvedTemplate, place: { readonly region: string; readonly accountId: string }) {
    this.#place = place;
    const resources = [...template.resources.values()];
    const roles = readRoles(resources);
    const notes = [...roles.values()].flatMap(({ name, unknown }) =>
      unknown.map((arn) => `${name} (${arn} is not known here: what only it allows is refused)`),
    );
    for (const { who, session, roleArn, service } of actorsOf(resources)) {
      const role = roles.get(roleArn);
      if (role === undefined)
        notes.push(`${who} (its role ${roleArn} is not in this stack: its calls are not checked)`);
      else this.#actors.set(who, { role, service, principal: sessionOf(role, session, place.accountId) });
    }
    this.#resourcePolicies = readResourcePolicies(resources);
    const all = [...roles.values()].flatMap(({ identity, boundary }) => [...identity, ...(boundary ?? [])]);
    this.#asked = askedKeys([...all, ...this.#resourcePolicies.flatMap(({ statements }) => statements)]);
    this.notes = notes;
  }

  /** The part of a request's context that can affect the decision. */
  relevant(context: Context): Context {
    return Object.fromEntries(Object.entries(context).filter(([key]) => this.#asked.has(key)));
  }

  /** Whether the policies apply to a principal: not to a program outside, nor to an external role. */
  checks(who: string): boolean {
    return this.#actors.has(who) || who.includes('.');
  }

  /** The decision on one request. */
  decide({ who, action, resource, context }: AccessRequest): Verdict {
    const actor = this.#actors.get(who);
    const principal: Principal = actor?.principal ?? { kind: 'service', name: who };
    const verdict = evaluate(
      { principal, action, resource, context: { ...this.#common(principal), ...context } },
      {
        identity: actor?.role.identity ?? [],
        boundary: actor?.role.boundary,
        resource: this.#resourcePolicies
          .filter(({ covers }) => covers(resource))
          .flatMap((each) => each.statements),
      },
    );
    const [unknown] = actor?.role.unknown ?? [];
    return verdict.allowed || unknown === undefined
      ? verdict
      : { ...verdict, because: `${verdict.because} (${unknown} is not known here)` };
  }

  /** All functions and schedules with a role of this stack, and the service that the role must trust. */
  actors(): { readonly who: string; readonly service: string; readonly roleArn: string }[] {
    return [...this.#actors].map(([who, { role, service }]) => ({ who, service, roleArn: role.arn }));
  }

  /** The principal by its name in AWS's refusals. */
  principalOf(who: string): Principal {
    return this.#actors.get(who)?.principal ?? { kind: 'service', name: who };
  }

  /** All permissions of the stack, one line for each action and resource. */
  permissions(): Permission[] {
    const allowed = (statements: readonly Statement[]): Statement[] =>
      statements.filter(({ effect }) => effect === 'Allow');
    const ofRoles = [...this.#actors].flatMap(([who, { role }]) =>
      allowed(role.identity).flatMap((statement) => grantsOf(statement).map((grant) => ({ who, ...grant }))),
    );
    const ofResources = this.#resourcePolicies.flatMap(({ statements }) =>
      allowed(statements).flatMap((statement) => {
        const names = [...(statement.principals?.services ?? []), ...(statement.principals?.aws ?? [])];
        return names.flatMap((who) => grantsOf(statement).map((grant) => ({ who, ...grant })));
      }),
    );
    return [...ofRoles, ...ofResources];
  }

  #common(principal: Principal): Context {
    const { region, accountId } = this.#place;
    return {
      // On AWS the SDK uses HTTPS, so the call to this machine's gateway counts as HTTPS.
      'aws:securetransport': ['true'],
      'aws:requestedregion': [region],
      'aws:principalisawsservice': [String(principal.kind === 'service')],
      ...(principal.kind === 'service'
        ? { 'aws:sourceaccount': [accountId] }
        : { 'aws:principalarn': [principal.roleArn], 'aws:principalaccount': [accountId] }),
    };
  }
}

/** The keys of conditions, and of variables anywhere in a statement. */
function askedKeys(statements: readonly Statement[]): Set<string> {
  const keys = statements.flatMap(({ conditions }) => conditions.map(({ key }) => key));
  const variables = [...JSON.stringify(statements).matchAll(/\$\{([^}]*)\}/g)].map(([, name = '']) => name);
  return new Set([...keys, ...variables].map((key) => key.toLowerCase()));
}

const sessionOf = (role: Role, session: string, accountId: string): Principal => ({
  kind: 'role',
  accountId,
  roleArn: role.arn,
  sessionArn: `arn:aws:sts::${accountId}:assumed-role/${role.name}/${session}`,
});

interface Acting {
  readonly who: string;
  readonly session: string;
  readonly roleArn: string;
  readonly service: string;
}

/** Functions, and schedules of EventBridge Scheduler, with their roles. */
function actorsOf(resources: readonly ResolvedResource[]): Acting[] {
  return resources.flatMap(({ type, logicalId: who, physicalName: session, properties }) => {
    const { Role, Target } = properties;
    if (type === 'AWS::Lambda::Function') {
      return [{ who, session, roleArn: String(Role), service: 'lambda.amazonaws.com' }];
    }
    // No service runs a task here; the process that runs it signs its calls with `<logicalId>-<n>`, as
    // functions do.
    if (type === 'AWS::ECS::TaskDefinition' && properties['TaskRoleArn'] !== undefined) {
      return [
        { who, session, roleArn: String(properties['TaskRoleArn']), service: 'ecs-tasks.amazonaws.com' },
      ];
    }
    if (type !== 'AWS::Scheduler::Schedule' || !isRecord(Target)) return [];
    return [{ who, session, roleArn: String(Target['RoleArn']), service: 'scheduler.amazonaws.com' }];
  });
}

/** Roles by ARN, each with all the policies that CloudFormation attaches to it. */
function readRoles(resources: readonly ResolvedResource[]): Map<string, Role> {
  const documents = new Map(
    resources
      .filter(({ type }) => type === 'AWS::IAM::ManagedPolicy')
      .map((policy) => [policy.ref, documentOf(policy)] as const),
  );
  const roles = resources.filter(({ type }) => type === 'AWS::IAM::Role');
  return new Map(roles.map((role) => [roleArnOf(role), readRole(role, resources, documents)]));
}

function readRole(
  role: ResolvedResource,
  resources: readonly ResolvedResource[],
  documents: ReadonlyMap<string, readonly Statement[]>,
): Role {
  const { logicalId, physicalName: name, properties } = role;
  const inline = list(properties['Policies']).flatMap((policy, at) =>
    readStatements(isRecord(policy) ? policy['PolicyDocument'] : undefined, `${logicalId}.Policies[${at}]`),
  );
  const attached = resources
    .filter(({ properties: policy, type }) =>
      type === 'AWS::IAM::RolePolicy'
        ? policy['RoleName'] === name
        : /^AWS::IAM::(Managed)?Policy$/.test(type) && list(policy['Roles']).includes(name),
    )
    .flatMap(documentOf);
  const managed = list(properties['ManagedPolicyArns']).map(String);
  const boundaryArn = properties['PermissionsBoundary'];
  const boundary = typeof boundaryArn === 'string' ? boundaryArn : undefined;
  const named = (arn: string): readonly Statement[] | undefined => documents.get(arn) ?? awsManaged(arn);
  return {
    arn: roleArnOf(role),
    name,
    identity: [...inline, ...attached, ...managed.flatMap((arn) => named(arn) ?? [])],
    boundary: boundary === undefined ? undefined : (named(boundary) ?? []),
    unknown: [...managed, ...(boundary === undefined ? [] : [boundary])].filter(
      (arn) => named(arn) === undefined,
    ),
  };
}

function awsManaged(arn: string): Statement[] | undefined {
  const document = managedPolicy(arn);
  return document === undefined ? undefined : readStatements(document, arn);
}

const documentOf = (policy: ResolvedResource): Statement[] =>
  readStatements(policy.properties['PolicyDocument'], policy.logicalId);

const roleArnOf = ({ arnPlace, physicalName }: ResolvedResource): string =>
  `arn:aws:iam::${arnPlace.accountId}:role/${physicalName}`;

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
