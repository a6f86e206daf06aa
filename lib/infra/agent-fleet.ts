/**
 * All agents of a deployment: one queue and one function each, and one dead-letter queue for all.
 *
 * Owns: what agents share, and which function may send to which of them. Does not own: one agent
 * (`deployed-agent.ts`), what a message says, the queues' names (`queue-names.ts`).
 *
 * A message is a hint, the table decides; so a queue may lose, repeat or keep one too long, and the
 * dead-letter queue is evidence for people and nothing else: each message in it says from which queue it
 * came. A stack holds 500 resources, so what agents can share they do.
 */

import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { AnyPrincipal, Effect, Grant as Grants, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type Code, Function as LambdaFunction, type IFunction, type Tracing } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueuePolicy } from 'aws-cdk-lib/aws-sqs';
import { Duration, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import type { AgentSettings } from './agent-settings.ts';
import { AgentHost } from './agent-hosts.ts';
import { AgentFunction, atRest, functionTimeout } from './deployed-agent.ts';
import type { DeclaredWork } from './discovery.ts';
import type { LogSettings } from './function.ts';
import { queuePrefix } from './queue-names.ts';

/**
 * Queues that a function's policy names one by one; what is too long for the role becomes a policy of its
 * own, another resource for each agent.
 */
const MOST_NAMED = 30;

/** What the fleet needs to know of an agent. */
export interface AgentDeclaration {
  readonly name: string;
  readonly timeoutMs: number;
  /** It must not act twice, and nobody can ask what it did. */
  readonly isUnsafe?: true;
  /** Absent: in a function. */
  readonly runsIn?: 'container';
  /** Absent: its file has the code itself. */
  readonly remote?: 'lambda' | 'url' | 'command';
  /** Its whole work is declared. */
  readonly declared?: DeclaredWork;
  /** The agents it may have to send to, itself included. */
  readonly peers: readonly string[];
}

export interface AgentFleetProps {
  readonly agents: readonly AgentDeclaration[];
  /** What the deployment brings itself: none of the agents, but they send to them all. */
  readonly builtIn?: readonly AgentDeclaration[];
  readonly code: (agentName: string) => Code;
  /** The folder of the image of an agent that runs in a container. */
  readonly imageFolder: (agentName: string) => string | undefined;
  /** What every agent's function has in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  readonly maxConcurrency: number;
  readonly memorySize: number;
  readonly tracing?: Tracing;
  readonly encryptionKey?: IKey;
  /** By agent name. */
  readonly settings: Readonly<Record<string, AgentSettings>>;
  /** By host: the names of its agents. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly hostCode: (host: string) => Code;
}

/** All agents of a deployment. */
export class AgentFleet extends Construct {
  readonly agents: ReadonlyMap<string, AgentFunction>;
  /** Beside them, and counted among them nowhere. */
  readonly builtIn: ReadonlyMap<string, AgentFunction>;

  /** What the names of its agents' queues begin with, and no other queue's. */
  readonly queuePrefix: string;

  constructor(scope: Construct, id: string, props: AgentFleetProps) {
    super(scope, id);
    const { agents, builtIn = [], code, imageFolder, settings, ...shared } = props;
    const names = [...agents, ...builtIn].map(({ name }) => name);
    const stranger = Object.keys(settings).find((name) => !names.includes(name));
    if (stranger !== undefined)
      throw new Error(
        `settings for an agent '${stranger}', which does not exist; there are ${names.join(', ')}`,
      );
    this.queuePrefix = queuePrefix(this);
    const deadLetterQueue = new Queue(this, 'DeadLetterQueue', {
      ...atRest(props.encryptionKey),
      retentionPeriod: Duration.days(14),
    });
    const hostOf = this.makeHosts(props);
    const made = (declared: readonly AgentDeclaration[]): ReadonlyMap<string, AgentFunction> =>
      new Map(
        declared.map(({ name, timeoutMs, runsIn, remote, declared: work }) => {
          const own = {
            agentName: name,
            queueName: `${this.queuePrefix}${name}`,
            timeout: Duration.millis(timeoutMs),
            ...(runsIn === undefined ? {} : { runsIn }),
            ...(remote === undefined ? {} : { remote }),
            ...(work === undefined ? {} : { declared: work }),
            code: () => code(name),
            imageFolder: () => imageFolder(name),
            settings: settings[name] ?? {},
            ...hostOf.get(name),
            fleet: this,
            deadLetterQueue,
          };
          return [name, new AgentFunction(this, name, { ...shared, ...own })];
        }),
      );
    this.agents = made(agents);
    this.builtIn = made(builtIn);
    this.refusePlainText([deadLetterQueue, ...this.all.map(({ queue }) => queue)]);
    const peersOf = new Map<IFunction, Set<string>>();
    for (const { name, peers } of agents) {
      const agent = this.agents.get(name);
      if (agent?.function !== undefined)
        peersOf.set(agent.function, new Set([...(peersOf.get(agent.function) ?? []), ...peers]));
      if (agent?.container === undefined) continue;
      for (const [variable, value] of Object.entries(this.grantSending(agent.container, peers)))
        agent.container.addEnvironment(variable, value);
    }
    for (const [sender, peers] of peersOf) this.allowSending(sender, [...peers]);
  }

  /** @returns by agent, the function that it shares */
  private makeHosts({
    hosts,
    hostCode,
    agents,
    settings,
    ...shared
  }: AgentFleetProps): ReadonlyMap<string, { readonly host: AgentHost }> {
    return new Map(
      [...hosts].flatMap(([host, names]) => {
        const members = agents
          .filter(({ name }) => names.includes(name))
          .map(({ name, timeoutMs, isUnsafe = false, declared }) => ({
            name,
            timeout: functionTimeout(name, Duration.millis(timeoutMs)),
            settings: settings[name] ?? {},
            isUnsafe,
            isDeclared: declared !== undefined,
            maxConcurrency: settings[name]?.maxConcurrency ?? shared.maxConcurrency,
          }));
        const props = { ...shared, members, code: hostCode(host) };
        const made = { host: new AgentHost(this, `Host-${host}`, host, props) };
        return names.map((name) => [name, made] as const);
      }),
    );
  }

  /** An author's. @throws Error naming those there are */
  named(name: string): AgentFunction {
    const agent = this.agents.get(name);
    if (agent !== undefined) return agent;
    throw new Error(`no agent is named '${name}'; there are ${[...this.agents.keys()].join(', ')}`);
  }

  private get all(): readonly AgentFunction[] {
    return [...this.agents.values(), ...this.builtIn.values()];
  }

  /**
   * One policy for all queues. CDK's `enforceSSL` makes one for each, which would be a fifth of a stack; each
   * queue takes `*` for itself.
   */
  private refusePlainText(queues: readonly Queue[]): void {
    const policy = new QueuePolicy(this, 'Policy', { queues: [...queues] });
    policy.document.addStatements(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['sqs:*'],
        resources: ['*'],
        conditions: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
  }

  /** Lets a function send to these agents, and tells it which they are. */
  allowSending(sender: IFunction, names: readonly string[]): void {
    const known = names.filter((name) => this.agents.has(name));
    if (known.length <= MOST_NAMED) tell(sender, this.grantSending(sender, known));
    else this.allowAll(sender, ['sqs:SendMessage'], known);
  }

  /**
   * Lets a function send to all agents, and if it is to, ask how full their queues are. One line of a policy
   * for all of them, so that it neither grows nor changes with them: a send to an agent that is deployed no
   * more is answered so, and not as forbidden.
   */
  allowAll(
    sender: IFunction,
    actions: readonly string[] = ['sqs:SendMessage', 'sqs:GetQueueAttributes'],
    told: readonly string[] = [...this.agents.keys(), ...this.builtIn.keys()],
  ): void {
    const stack = Stack.of(this);
    const queues = stack.formatArn({ service: 'sqs', resource: `${this.queuePrefix}*` });
    Grants.addToPrincipal({
      grantee: sender,
      actions: [...actions],
      resourceArns: [queues],
    });
    if (sender.role !== undefined)
      Validations.of(sender.role).acknowledge({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:${this.queuePrefix}*]`,
        reason: 'the queues of all agents of this deployment, and no others, have names with this prefix',
      });
    tell(sender, this.environmentFor(told));
  }

  /** @returns what the sender must find in its environment */
  grantSending(sender: IGrantable, names: readonly string[]): Readonly<Record<string, string>> {
    const known = names.filter((name) => this.agents.has(name));
    for (const name of known) this.agents.get(name)?.grantSend(sender);
    return this.environmentFor(known);
  }

  private environmentFor(names: readonly string[]): Readonly<Record<string, string>> {
    const { region, urlSuffix, account } = Stack.of(this);
    return {
      [ENV.queues]: `https://sqs.${region}.${urlSuffix}/${account}/${this.queuePrefix}`,
      [ENV.agents]: names.join(','),
    };
  }
}

function tell(sender: IFunction, environment: Readonly<Record<string, string>>): void {
  if (!(sender instanceof LambdaFunction)) return;
  for (const [name, value] of Object.entries(environment)) sender.addEnvironment(name, value);
}
