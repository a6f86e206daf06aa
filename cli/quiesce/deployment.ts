/**
 * A deployment in an account: which parts it has, found by tags. Several Steadfasts
 * in one stack are one deployment.
 *
 * Owns: what each tagged resource is. Does not own: how they are found (`../aws/tagged.ts`), what stopping
 * means for each kind (`kinds.ts`), the order (`order.ts`), who is tagged (`lib/infra/parts.ts`).
 *
 * Mappings are found by their queue and not by their function: every reader of an agent's queue has to stop,
 * also with a function that another stack made.
 *
 * Tags are found minutes after a deployment, so CloudFormation is asked as well: what the stack holds that
 * sends or reads by itself and is not found by tags is named, and nothing is stopped.
 */

import { ENV, PARTS } from '../../lib/aws/names.ts';
import { stackResources } from '../aws/stack-resources.ts';
import { type Tagged, taggedWith } from '../aws/tagged.ts';
import { CliError } from '../io.ts';
import type { Part, Role } from './account.ts';
import { type Answer, type Calls, unlessGone } from '../aws/calls.ts';

/** The routes that start executions; `$default` takes the same paths written otherwise. */
const STARTS: readonly string[] = [
  'POST /workflows/{name}/executions',
  'POST /workflows/{name}/runs',
  '$default',
];
/** Readers change nothing, and operators want to see. */
const READS = /^(GET|HEAD|OPTIONS) /;

/** What sends or reads without being called. */
const BY_ITSELF: readonly string[] = [
  'AWS::ECS::Service',
  'AWS::Events::Rule',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Scheduler::ScheduleGroup',
];

/** As CloudFormation names it: of a rule `bus|rule`, of a group its name, of all else the whole. */
const nameOf = (id: string): string => {
  const [, rule] = /:rule\/(.*)$/.exec(id) ?? [];
  if (rule !== undefined) return rule.replace(/\/([^/]*)$/, '|$1');
  return id.replace(/^.*:schedule-group\//, '');
};

export class Deployment {
  readonly #calls: Calls;
  readonly #stack: string;
  readonly #left: readonly string[];
  readonly #asked = new Map<string, Promise<Answer | undefined>>();
  #tagged: readonly Tagged[] | undefined;

  /** @param left logical ids of what the stack holds beside Steadfast, which is left alone */
  constructor(calls: Calls, stack: string, left: readonly string[] = []) {
    this.#calls = calls;
    this.#stack = stack;
    this.#left = left;
  }

  async parts(): Promise<readonly Part[]> {
    const parts: Part[] = [];
    const found = await this.#found();
    for (const tagged of found) parts.push(...(await this.#partsOf(tagged)));
    const missing = await this.#missing(found, parts);
    if (missing.length > 0)
      throw new CliError(
        'incomplete',
        `these parts of '${this.#stack}' were not found by their tags: ${missing.join(', ')}. Tags can be found some minutes after a deployment; if an older version deployed the stack, deploy it again`,
      );
    await this.#refuseStrangers(found, parts);
    return parts;
  }

  async #refuseStrangers(found: readonly Tagged[], parts: readonly Part[]): Promise<void> {
    const known = new Set([...parts.map(({ id }) => id), ...found.map(({ arn }) => arn)].map(nameOf));
    const strangers = (await stackResources(this.#calls, this.#stack)).filter(
      ({ logicalId, type, id }) =>
        BY_ITSELF.includes(type) && !known.has(nameOf(id)) && !this.#left.includes(logicalId),
    );
    if (strangers.length === 0) return;
    const names = strangers.map(({ logicalId, type }) => `${logicalId} (${type})`);
    throw new CliError(
      'incomplete',
      `'${this.#stack}' has resources that its tags do not show: ${names.join(', ')}. Tags can be found some minutes after a deployment; resources that are not Steadfast's can be left alone with --leave ${strangers.map(({ logicalId }) => logicalId).join(' ')}`,
    );
  }

  async #found(): Promise<readonly Tagged[]> {
    if (this.#tagged !== undefined) return this.#tagged;
    this.#tagged = await taggedWith(this.#calls, this.#stack);
    const stranger = this.#tagged.find(({ part }) => !PARTS.some((each) => each === part));
    // A part of a later version: left alone, it could go on writing.
    if (stranger !== undefined)
      throw new CliError(
        'unknown-part',
        `${stranger.arn} is tagged as the part '${stranger.part}', which this version does not know; use the version of steadfast that was deployed`,
      );
    return this.#tagged;
  }

  #partsOf({ arn, part }: Tagged): Promise<Part[]> | Part[] {
    const supervises = part === 'supervisor' || part === 'audit';
    const role: Role = supervises
      ? 'supervision'
      : part === 'source'
        ? 'source'
        : part === 'agent'
          ? 'work'
          : 'start';
    const [, , service, , , ...resource] = arn.split(':');
    switch (service) {
      case 'sqs':
        return this.#mappings(role, arn);
      case 'events':
        // A run of the audit may last for minutes; it heals and removes, and no execution waits for it.
        return this.#rule(role, arn, part === 'supervisor');
      case 'ecs':
        return [{ role, kind: 'service', id: arn, tailMs: 0 }];
      case 'apigateway':
        return this.#routes(resource.join(':'));
      case 'scheduler':
        return this.#schedules(resource.join(':').replace('schedule-group/', ''));
      case 'logs':
        return [];
      case 'lambda':
        // The function is stopped by what calls it; its settings are asked for where they are needed.
        return [];
      default:
        throw new CliError(
          'unknown-part',
          `${arn} is tagged as a part, but this version does not know how to stop it`,
        );
    }
  }

  /** https://docs.aws.amazon.com/lambda/latest/api/API_ListEventSourceMappings.html */
  async #mappings(role: Role, queue: string): Promise<Part[]> {
    const parts: Part[] = [];
    const pages = this.#calls.pages((marker) => {
      const query = new URLSearchParams({
        EventSourceArn: queue,
        ...(marker === undefined ? {} : { Marker: marker }),
      });
      const path = `/2015-03-31/event-source-mappings/?${String(query)}`;
      return this.#calls.rest('lambda', 'ListEventSourceMappings', 'GET', path);
    }, 'NextMarker');
    for await (const page of pages) {
      const found = page['EventSourceMappings'] as readonly Record<'UUID' | 'FunctionArn', string>[];
      for (const { UUID, FunctionArn } of found) {
        const tailMs = timeoutMs(await this.#settings(FunctionArn));
        parts.push({ role, kind: 'mapping', id: UUID, tailMs });
      }
    }
    return parts;
  }

  async #rule(role: Role, id: string, isWaitedFor: boolean): Promise<Part[]> {
    const tails = isWaitedFor
      ? await Promise.all(this.#functions('supervisor').map((arn) => this.#settings(arn)))
      : [];
    return [{ role, kind: 'rule', id, tailMs: Math.max(0, ...tails.map(timeoutMs)) }];
  }

  /** https://docs.aws.amazon.com/apigatewayv2/latest/api-reference/apis-apiid-routes.html */
  async #routes(path: string): Promise<Part[]> {
    const [, api = '', stage = ''] = /^\/apis\/([^/]+)\/stages\/([^/]+)$/.exec(path) ?? [];
    const tails = await Promise.all(this.#functions('api').map((arn) => this.#settings(arn)));
    const tailMs = Math.max(0, ...tails.map(timeoutMs));
    const parts: Part[] = [];
    const ask = (nextToken: string | undefined): Promise<Answer> => {
      const query = nextToken === undefined ? '' : `?${String(new URLSearchParams({ nextToken }))}`;
      return this.#calls.rest(
        'apigateway',
        'GET',
        'GET',
        `/v2/apis/${encodeURIComponent(api)}/routes${query}`,
      );
    };
    for await (const page of this.#calls.pages(
      async (token) => (await unlessGone(ask(token))) ?? {},
      'nextToken',
    )) {
      for (const { routeKey } of (page['items'] ?? []) as readonly Record<'routeKey', string>[]) {
        const role = STARTS.includes(routeKey) ? 'start' : 'work';
        if (!READS.test(routeKey))
          parts.push({ role, kind: 'route', id: `${api}/${stage}/${routeKey}`, tailMs });
      }
    }
    return parts;
  }

  /** https://docs.aws.amazon.com/scheduler/latest/APIReference/API_ListSchedules.html */
  async #schedules(group: string): Promise<Part[]> {
    const parts: Part[] = [];
    const ask = (token: string | undefined): Promise<Answer> => {
      const query = new URLSearchParams({
        ScheduleGroup: group,
        ...(token === undefined ? {} : { NextToken: token }),
      });
      return this.#calls.rest('scheduler', 'ListSchedules', 'GET', `/schedules?${String(query)}`);
    };
    for await (const page of this.#calls.pages(
      async (token) => (await unlessGone(ask(token))) ?? {},
      'NextToken',
    ))
      for (const { Name } of (page['Schedules'] ?? []) as readonly Record<'Name', string>[])
        parts.push({ role: 'source', kind: 'schedule', id: `${group}/${Name}`, tailMs: 0 });
    return parts;
  }

  /** What every Steadfast of the stack has: what is not found would go on writing. */
  async #missing(found: readonly Tagged[], parts: readonly Part[]): Promise<string[]> {
    const starts = parts.filter(({ kind, role }) => kind === 'route' && role === 'start');
    const rules = (part: string): number =>
      found.filter((tagged) => tagged.part === part && tagged.arn.includes(':rule/')).length;
    const counts = {
      'the API': new Set(starts.map(({ id }) => id.split('/')[0])).size,
      'the rule of the supervisor': rules('supervisor'),
      'the rule of the audit': rules('audit'),
    };
    const functions = ['api', 'supervisor', 'audit'].map((part) => this.#functions(part).length);
    const there = Math.max(1, counts['the API'], counts['the rule of the audit'], ...functions);
    return [
      ...Object.entries(counts)
        .filter(([, count]) => count < there)
        .map(([what, count]) => (there === 1 ? what : `${what} (${count} of ${there})`)),
      ...(await this.#missingQueues(found)),
    ];
  }

  async #missingQueues(found: readonly Tagged[]): Promise<string[]> {
    const queues = found.filter(({ arn }) => arn.split(':')[2] === 'sqs').map(({ arn }) => arn);
    const [names, addresses] = [await this.variables(ENV.agents), await this.variables(ENV.queues)];
    return names.flatMap((agents, at) => {
      const prefix = addresses[at]?.split('/').at(-1) ?? '';
      return agents
        .split(',')
        .filter((name) => !queues.some((arn) => arn.endsWith(`:${prefix}${name}`)))
        .map((name) => `the queue of the agent ${name}`);
    });
  }

  /**
   * A variable in the environment of the function behind each API of the stack, in one order for every name.
   */
  async variables(name: string): Promise<readonly string[]> {
    await this.#found();
    const found: string[] = [];
    for (const arn of this.#functions('api')) {
      const { Environment } = (await this.#settings(arn)) ?? {};
      const { Variables = {} } = (Environment ?? {}) as { Variables?: Record<string, string> };
      if (Variables[name] !== undefined) found.push(Variables[name]);
    }
    return found;
  }

  #functions(part: string): string[] {
    return (this.#tagged ?? [])
      .filter((tagged) => tagged.part === part && tagged.arn.includes(':lambda:'))
      .map(({ arn }) => arn);
  }

  #settings(functionArn: string): Promise<Answer | undefined> {
    const path = `/2015-03-31/functions/${encodeURIComponent(functionArn)}/configuration`;
    const asked =
      this.#asked.get(functionArn) ??
      unlessGone(this.#calls.rest('lambda', 'GetFunctionConfiguration', 'GET', path));
    this.#asked.set(functionArn, asked);
    return asked;
  }
}

const timeoutMs = (settings: Answer | undefined): number => Number(settings?.['Timeout'] ?? 0) * 1_000;
