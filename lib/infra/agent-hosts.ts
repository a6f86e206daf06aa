/**
 * Hosts: functions that contain the code of several agents each.
 *
 * Owns: which agents share a host, how their settings are combined, and refusals and warnings about it. Does
 * not own: an agent's queue and mapping (`deployed-agent.ts`), the work of such a function
 * (`agent/host-handler.ts`).
 *
 * Each agent keeps its queue, its mapping and its dead letters, so its depth, pause, admission and alarms
 * stay its own. Everything that belongs to the function is shared: memory, environment, network, permissions.
 */

import { isDeepStrictEqual } from 'node:util';
import type { IPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Code, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { Annotations, Aspects, Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { defined } from '../core/values/defined.ts';
import { ENV, type HostSettings } from '../aws/names.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { FoundAgent } from './discovery.ts';
import type { SteadfastProps } from './steadfast-props.ts';
import { addFunction, type SharedSettings } from './function.ts';

/** The facts that decide whether an agent may share a function. */
export type Hostable = Pick<FoundAgent, 'name' | 'runsIn' | 'isolate' | 'remote' | 'declared'>;

/** The host of all agents that name no other (`hosting: 'shared'`). */
const SHARED = 'shared';
/** The host of agents whose work is declared and that send no secret. */
const READY = 'http';
const NAME = /^[a-z][a-z0-9-]{0,39}$/;

/**
 * The host of an agent whose work is declared. Agents that send the same secret share one. It contains no
 * other code, which could read the secret.
 */
function readyHost({ secret }: NonNullable<FoundAgent['declared']>): string {
  if (secret === undefined) return READY;
  const named = secret.parameter ?? secret.secretsManager ?? secret.env;
  const slug = named.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `${READY}-${slug.replaceAll(/^-|-$/g, '')}`.slice(0, 40);
}

/** Why an agent has a function, or a process, of its own; undefined if it may share one. */
function aloneFor({ runsIn, isolate, remote }: Hostable, settings: AgentSettings): string | undefined {
  if (runsIn !== undefined) return 'it runs in a container';
  if (isolate !== undefined) return 'it has processes of its own (isolate)';
  if (settings.function !== undefined) return 'it has a function of your own';
  return remote === 'lambda' ? 'a function that its own may invoke does its work' : undefined;
}

/**
 * The names of the agents of each host.
 * @throws Error that names an agent which cannot share a function
 */
export function hostsOf(
  agents: readonly Hostable[],
  { agentSettings: settings = {}, hosting = 'own' }: Pick<SteadfastProps, 'agentSettings' | 'hosting'>,
): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const agent of agents) {
    const own = settings[agent.name] ?? {};
    const why = aloneFor(agent, own);
    const { host } = own;
    if (host !== undefined && !NAME.test(host))
      throw refused(agent.name, `host is '${host}'; allowed: up to 40 of a-z, 0-9 and -, a letter first`);
    if (host !== undefined && why !== undefined)
      throw refused(agent.name, `host: it can share no function, for ${why}; leave out host`);
    const { declared } = agent;
    const ready = why === undefined && declared !== undefined ? readyHost(declared) : undefined;
    const name = host ?? ready ?? (hosting === 'shared' && why === undefined ? SHARED : undefined);
    const [ofHost] = (['carryOn', 'longHost'] as const).filter((one) => own[one] === true);
    if (name === undefined && ofHost !== undefined)
      throw refused(
        agent.name,
        `${ofHost}: it shares no function${why === undefined ? ": set host, or hosting: 'shared'" : `, for ${why}`}; or leave out ${ofHost}`,
      );
    if (name !== undefined) hosts.set(name, [...(hosts.get(name) ?? []), agent.name]);
  }
  return hosts;
}

const refused = (agent: string, what: string): Error => new Error(`agent '${agent}': ${what}`);

/** An agent of a host. */
export interface HostMember {
  readonly name: string;
  readonly timeout: Duration;
  readonly settings: AgentSettings;
  /** True for an agent that must not act twice and has no probe. */
  readonly isUnsafe: boolean;
  /** True for declared work: the agent waits for a service and keeps no other agent from working. */
  readonly isDeclared: boolean;
  readonly maxConcurrency: number;
}

export interface AgentHostProps extends SharedSettings {
  readonly members: readonly HostMember[];
  readonly code: Code;
}

/**
 * The largest allowed ratio of the time limits. After a crash, an agent with a shorter limit must wait for
 * the longest one before its `notDone` counts or its undo begins.
 */
const MOST_TIMES_LONGER = 4;
/**
 * How long an invocation of a host with reserved executions may carry on messages: others may be waiting for
 * its process, which cannot know that.
 */
const RESERVED_LONGEST_MS = 2_000;

/** A function with the code of several agents. */
export class AgentHost extends Construct {
  readonly function: LambdaFunction;
  readonly #members: readonly string[];
  /** The grants of each agent. */
  readonly #granted = new Map<string, Set<string>>();

  constructor(scope: Construct, id: string, hostName: string, props: AgentHostProps) {
    super(scope, id);
    const { members, environment, logs, memorySize, tracing } = props;
    this.#members = members.map(({ name }) => name);
    checkTimeouts(hostName, members);
    const same = <Value>(
      what: string,
      of: (settings: AgentSettings) => Value | undefined,
    ): Value | undefined => theSame(hostName, members, what, of);
    const reserved = same('reservedConcurrency', (each) => each.reservedConcurrency);
    checkReserved(hostName, members, reserved);
    const level = same('logLevel', (each) => each.logLevel);
    const seconds = Math.max(...members.map(({ timeout }) => timeout.toSeconds()));
    this.function = addFunction(this, {
      description: `Steadfast agents ${this.#members.join(', ')}`.slice(0, 256),
      code: props.code,
      timeout: Duration.seconds(seconds),
      memorySize: Math.max(...members.map(({ settings }) => settings.memorySize ?? memorySize)),
      environment: {
        ...environmentOf(hostName, members),
        ...environment,
        [ENV.hosted]: JSON.stringify(settingsFor(members, reserved)),
      },
      logs: level === undefined ? logs : { ...logs, level },
      // The same as for an agent's own function (`deployed-agent.ts`).
      recursiveLoop: RecursiveLoop.ALLOW,
      ...defined({
        tracing,
        reservedConcurrentExecutions: reserved,
        vpc: same('vpc', (each) => each.vpc),
        vpcSubnets: same('vpcSubnets', (each) => each.vpcSubnets),
        securityGroups: same('securityGroups', (each) => each.securityGroups)?.slice(),
      }),
    });
    this.#sayWhatIsShared(hostName);
  }

  /** The principal for an agent's grants. A grant applies to all agents of the host, as a warning says. */
  principalOf(agent: string): IPrincipal {
    const { grantPrincipal } = this.function;
    const granted = this.#granted.get(agent) ?? new Set();
    this.#granted.set(agent, granted);
    return Object.create(grantPrincipal, {
      // The CDK repeats no grant of the same thing to a principal of the same text.
      toString: { value: () => `${String(grantPrincipal)} as ${agent}` },
      addToPrincipalPolicy: {
        value: (statement: PolicyStatement) => {
          for (const action of statement.actions) granted.add(action);
          return grantPrincipal.addToPrincipalPolicy(statement);
        },
      },
    }) as IPrincipal;
  }

  #sayWhatIsShared(hostName: string): void {
    let isSaid = false;
    Aspects.of(this).add({
      visit: (node) => {
        if (node !== this || isSaid) return;
        isSaid = true;
        for (const agent of this.#members) this.#sayOf(hostName, agent);
      },
    });
  }

  #sayOf(hostName: string, agent: string): void {
    const own = this.#granted.get(agent) ?? new Set();
    const all = [...this.#granted].flatMap(([other, actions]) => (other === agent ? [] : [...actions]));
    const more = [...new Set(all)].filter((action) => !own.has(action)).sort();
    if (more.length === 0) return;
    Annotations.of(this).addInfoV2(
      `steadfast:host[${agent}]`,
      `agent '${agent}' shares its role with the other agents of host '${hostName}', and so may also do what they were granted: ${more.join(', ')}`,
    );
  }
}

function settingsFor(members: readonly HostMember[], reserved: number | undefined): HostSettings {
  const isLimited = ({ rate, maxConcurrency }: AgentSettings): boolean =>
    rate !== undefined || maxConcurrency !== undefined;
  const carries = members.filter(
    ({ settings, isUnsafe, isDeclared }) =>
      !isLimited(settings) && (settings.carryOn ?? !(isUnsafe || isDeclared)),
  );
  return {
    carries: carries.map(({ name }) => name),
    ...(reserved === undefined ? {} : { longestMs: RESERVED_LONGEST_MS }),
    rates: Object.fromEntries(
      members.flatMap(({ name, settings: { rate } }) => (rate === undefined ? [] : [[name, rate]])),
    ),
  };
}

function checkTimeouts(host: string, members: readonly HostMember[]): void {
  const longest = members.reduce((one, other) =>
    other.timeout.toSeconds() > one.timeout.toSeconds() ? other : one,
  );
  const short = members.find(
    ({ timeout, settings }) =>
      settings.longHost !== true && timeout.toSeconds() * MOST_TIMES_LONGER < longest.timeout.toSeconds(),
  );
  if (short === undefined) return;
  throw refused(
    short.name,
    `its function in host '${host}' would have the timeout of '${longest.name}', ${longest.timeout.toSeconds()} s instead of ${short.timeout.toSeconds()} s, and after a crash its probe and its undo would wait for that; give one of them another host, or allow it: agentSettings['${short.name}'].longHost: true`,
  );
}

function checkReserved(host: string, members: readonly HostMember[], reserved: number | undefined): void {
  const sum = members.reduce((all, { maxConcurrency }) => all + maxConcurrency, 0);
  if (reserved === undefined || reserved >= sum) return;
  throw new Error(
    `host '${host}': reservedConcurrency is ${reserved}, less than the maxConcurrency of its agents together, ${sum}: an agent that hangs would take the others' places; reserve ${sum} or more, or lower maxConcurrency`,
  );
}

/** The value of a setting that all agents of a function must share. */
function theSame<Value>(
  host: string,
  members: readonly HostMember[],
  what: string,
  of: (settings: AgentSettings) => Value | undefined,
): Value | undefined {
  const set = members.filter(({ settings }) => of(settings) !== undefined);
  const [first] = set;
  const other = set.find(
    ({ settings }) => first !== undefined && !isDeepStrictEqual(of(settings), of(first.settings)),
  );
  if (first !== undefined && other !== undefined)
    throw new Error(
      `host '${host}': ${what} of agent '${first.name}' and of '${other.name}' differ, and one function has one; set the same, or give one of them another host`,
    );
  return first && of(first.settings);
}

function environmentOf(host: string, members: readonly HostMember[]): Readonly<Record<string, string>> {
  const names = new Set(members.flatMap(({ settings }) => Object.keys(settings.environment ?? {})));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      theSame(host, members, `environment.${name}`, ({ environment }) => environment?.[name]) ?? '',
    ]),
  );
}
