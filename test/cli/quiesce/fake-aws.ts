/**
 * What AWS answers to quiesce, over HTTP: the shapes of nine APIs, with pages of one, states that
 * change by and by, and refusals.
 *
 * Owns: one deployment `Shop` with a part of each kind; every request as it came.
 */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../../local/http/read-body.ts';

type Body = Record<string, unknown>;
export interface Call {
  readonly service: string;
  /** `GetResources`, or `PUT /schedules/daily`. */
  readonly what: string;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
}

const ARN = 'arn:aws';
const AT = 'eu-central-1:123456789012';
const BUS_RULE = `${ARN}:events:${AT}:rule/aws.partner/shop/Sold`;
export const SERVICE = `${ARN}:ecs:${AT}:service/Cluster/Encode`;
const FUNCTION = `${ARN}:lambda:${AT}:function`;

const TAGGED: readonly (readonly [arn: string, part: string])[] = [
  [`${ARN}:sqs:${AT}:Shop-Trigger`, 'trigger'],
  [BUS_RULE, 'source'],
  [`${ARN}:scheduler:${AT}:schedule-group/Shop-Schedules`, 'source'],
  [`${ARN}:apigateway:eu-central-1::/apis/a1/stages/$default`, 'api'],
  [`${FUNCTION}:Shop-Scheduler`, 'api'],
  [`${ARN}:sqs:${AT}:Shop-0a1b2c3d_pay`, 'agent'],
  [SERVICE, 'agent'],
  [`${ARN}:events:${AT}:rule/Shop-Tick`, 'supervisor'],
  [`${FUNCTION}:Shop-Supervisor`, 'supervisor'],
  [`${ARN}:events:${AT}:rule/Shop-Audit`, 'audit'],
  [`${ARN}:logs:${AT}:log-group:Shop-PayLogs:*`, 'logs'],
];

export class FakeAws {
  readonly calls: Call[] = [];
  tagged = TAGGED;
  /** The functions' variables, by their names. */
  variables: Readonly<Record<string, Body>> = {
    'Shop-Scheduler': {
      STEADFAST_TABLE: 'restored',
      STEADFAST_AGENTS: 'pay',
      STEADFAST_QUEUES: 'https://sqs.eu-central-1.amazonaws.com/123456789012/Shop-0a1b2c3d_',
    },
  };
  /** The template of the stack; nothing where there is none yet. */
  deployed: string | undefined;
  /** How often its last index is still being built when asked. */
  building = 0;
  /** What CloudFormation lists of the stack: logical id, type, physical id, status. */
  resources: readonly (readonly [logical: string, type: string, id: string, status?: string])[] = [
    ['Table', 'AWS::DynamoDB::Table', 'Shop-Table'],
    ['Starter', 'AWS::Lambda::EventSourceMapping', 'm1'],
    ['Pay', 'AWS::Lambda::EventSourceMapping', 'm2'],
    ['Sold', 'AWS::Events::Rule', 'aws.partner/shop|Sold'],
    ['Tick', 'AWS::Events::Rule', 'Shop-Tick'],
    ['Daily', 'AWS::Scheduler::ScheduleGroup', 'Shop-Schedules'],
    ['Encode', 'AWS::ECS::Service', SERVICE],
    ['Former', 'AWS::Events::Rule', 'Shop-Former', 'DELETE_COMPLETE'],
  ];
  readonly mappings: Record<string, { State: string; readonly queue: string; readonly fn: string }> = {
    m1: { State: 'Enabled', queue: 'Shop-Trigger', fn: 'Shop-Starter' },
    m2: { State: 'Enabled', queue: 'Shop-0a1b2c3d_pay', fn: 'Shop-Pay' },
    m3: { State: 'Disabled', queue: 'Shop-0a1b2c3d_pay', fn: 'Other-Pay' },
  };
  readonly rules: Record<string, string> = {
    'aws.partner/shop Sold': 'ENABLED',
    'Shop-Tick': 'ENABLED',
    'Shop-Audit': 'DISABLED',
  };
  readonly schedule: Body = {
    Arn: 'arn',
    Name: 'daily',
    GroupName: 'Shop-Schedules',
    State: 'ENABLED',
    ScheduleExpression: 'rate(1 day)',
    Target: { Arn: 'queue' },
    FlexibleTimeWindow: { Mode: 'OFF' },
    CreationDate: 1,
    LastModificationDate: 2,
    StartDate: 3,
  };
  service = { status: 'ACTIVE', desiredCount: 3, runningCount: 3, pendingCount: 0 };
  scaling: Body = {
    DynamicScalingInSuspended: true,
    DynamicScalingOutSuspended: false,
    ScheduledScalingSuspended: false,
  };
  routeSettings: Record<string, Body> = {
    'GET /executions': { throttlingRateLimit: 5 },
    'POST /callbacks/{token}/heartbeat': { throttlingRateLimit: 9 },
  };
  readonly parameters = new Map<string, string>();
  /** Steps as they are in the table, one a page. */
  items: Body[] = [];
  /** Answers by the operation or the path, one after the other, before anything else. */
  readonly refusals: {
    readonly what: RegExp;
    readonly status: number;
    readonly body: Body;
    /** In place of the body. */
    readonly text?: string;
    times: number;
  }[] = [];
  url = '';
  readonly #server = createServer((request, response) => {
    void readBody(request, 1e6).then((bytes) => {
      const text = bytes === 'tooLarge' ? '' : bytes.toString();
      const isForm = request.headers['content-type']?.includes('form') === true;
      const form = Object.fromEntries(new URLSearchParams(text)) as Body;
      const body = isForm ? form : ((text === '' ? {} : JSON.parse(text)) as Body);
      const target = String(request.headers['x-amz-target'] ?? '').split('.')[1];
      const what = isForm ? String(form['Action']) : (target ?? `${request.method} ${request.url}`);
      const [, , , service = ''] =
        /Credential=[^/]+\/(\d+)\/([^/]+)\/([^/]+)\//.exec(request.headers.authorization ?? '') ?? [];
      this.calls.push({ service, what, body, headers: request.headers });
      const refusal = this.refusals.find((each) => each.times > 0 && each.what.test(what));
      if (refusal !== undefined) refusal.times -= 1;
      const [status, answer] =
        refusal === undefined ? this.#answer(what, body) : [refusal.status, refusal.body];
      response.statusCode = status;
      const isThere = what !== 'GetTemplate' || this.deployed !== undefined;
      if (!isThere) response.statusCode = 400;
      const given = refusal === undefined && isForm ? this.#form(what, body) : JSON.stringify(answer);
      response.end(refusal?.text ?? given);
    });
  });

  async open(): Promise<void> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** What changes something, without what only asks. */
  get changes(): string[] {
    return this.calls
      .filter(({ what }) => !/^(GET|Get|List|Describe|Scan)/.test(what))
      .map(({ what, body }) => `${what} ${JSON.stringify(body)}`);
  }

  #answer(what: string, body: Body): readonly [number, Body] {
    if (/^[A-Z][a-z]/.test(what)) return [200, this.#json(what, body)];
    return this.#rest(what, body);
  }

  #form(operation: string, body: Body): string {
    if (operation !== 'GetTemplate') return this.#resources(body);
    return this.deployed === undefined
      ? '<Error><Code>ValidationError</Code><Message>Stack with id Shop does not exist</Message></Error>'
      : `<TemplateBody>${this.deployed.replaceAll('"', '&quot;')}</TemplateBody>`;
  }

  /** The indexes of the deployed template; the last of them is building for some reads. */
  #indexes(): Body[] {
    const names = [...(this.deployed ?? '').matchAll(/"IndexName":"(\w+)"/g)].map(([, name]) => name);
    const isBuilt = this.building <= 0;
    this.building -= 1;
    return names.map((IndexName, at) => ({
      IndexName,
      IndexStatus: isBuilt || at < names.length - 1 ? 'ACTIVE' : 'CREATING',
    }));
  }

  /** `ListStackResources`, one a page. */
  #resources(body: Body): string {
    const at = Number(body['NextToken'] ?? 0);
    const members = this.resources
      .slice(at, at + 1)
      .map(
        ([logical, type, id, status = 'CREATE_COMPLETE']) =>
          `<member><LogicalResourceId>${logical}</LogicalResourceId><ResourceType>${type}</ResourceType><PhysicalResourceId>${id.replaceAll('&', '&amp;')}</PhysicalResourceId><ResourceStatus>${status}</ResourceStatus></member>`,
      );
    const next = at + 1 < this.resources.length ? `<NextToken>${at + 1}</NextToken>` : '';
    return `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries>${next}</ListStackResourcesResult></ListStackResourcesResponse>`;
  }

  #json(operation: string, body: Body): Body {
    switch (operation) {
      case 'GetResources': {
        const [{ Values = ['Shop'] }] = body['TagFilters'] as [{ Values?: string[] }];
        const at = Number(body['PaginationToken'] ?? 0);
        if (!Values.includes('Shop')) return { ResourceTagMappingList: [], PaginationToken: '' };
        const ResourceTagMappingList = this.tagged.slice(at, at + 3).map(([ResourceARN, part]) => ({
          ResourceARN,
          Tags: [
            { Key: 'steadfast:stack', Value: 'Shop' },
            { Key: 'steadfast:part', Value: part },
          ],
        }));
        return { ResourceTagMappingList, PaginationToken: at + 3 < this.tagged.length ? String(at + 3) : '' };
      }
      case 'DescribeTable':
        return { Table: { GlobalSecondaryIndexes: this.#indexes() } };
      case 'DescribeRule':
        return { State: this.rules[ruleName(body)] };
      case 'EnableRule':
      case 'DisableRule':
        this.rules[ruleName(body)] = operation === 'EnableRule' ? 'ENABLED' : 'DISABLED';
        return {};
      case 'DescribeServices':
        return { services: [this.service] };
      case 'UpdateService': {
        const count = Number(body['desiredCount']);
        this.service = { ...this.service, desiredCount: count, runningCount: count };
        return {};
      }
      case 'DescribeScalableTargets':
        return { ScalableTargets: [{ SuspendedState: this.scaling }] };
      case 'RegisterScalableTarget':
        this.scaling = body['SuspendedState'] as Body;
        return {};
      case 'GetParametersByPath': {
        const all = [...this.parameters].map(([Name, Value]) => ({ Name, Value }));
        const at = Number(body['NextToken'] ?? 0);
        return {
          Parameters: all.slice(at, at + 1),
          ...(at + 1 < all.length ? { NextToken: String(at + 1) } : {}),
        };
      }
      case 'PutParameter':
        this.parameters.set(String(body['Name']), String(body['Value']));
        return {};
      case 'DeleteParameters':
        for (const name of body['Names'] as string[]) this.parameters.delete(name);
        return {};
      default: {
        const at = Number(body['ExclusiveStartKey'] ?? 0);
        const Items = this.items.slice(at, at + 1);
        return {
          Items,
          Count: Items.length,
          ...(at + 1 < this.items.length ? { LastEvaluatedKey: at + 1 } : {}),
        };
      }
    }
  }

  #rest(what: string, body: Body): readonly [number, Body] {
    const [method = '', address = ''] = what.split(' ');
    const url = new URL(address, this.url);
    const path = url.pathname.split('/').map(decodeURIComponent);
    if (url.pathname === '/2015-03-31/event-source-mappings/') {
      const found = Object.entries(this.mappings).filter(([, { queue }]) =>
        url.searchParams.get('EventSourceArn')?.endsWith(`:${queue}`),
      );
      const at = Number(url.searchParams.get('Marker') ?? 0);
      const EventSourceMappings = found
        .slice(at, at + 1)
        .map(([UUID, { fn }]) => ({ UUID, FunctionArn: `${FUNCTION}:${fn}` }));
      return [200, { EventSourceMappings, ...(at + 1 < found.length ? { NextMarker: String(at + 1) } : {}) }];
    }
    if (path[2] === 'event-source-mappings') return this.#mapping(method, path[3]!, body);
    if (path[2] === 'functions') {
      const Variables = this.variables[path[3]?.split(':').at(-1) ?? ''] ?? {};
      return [200, { Timeout: path[3]?.endsWith('Shop-Pay') ? 45 : 30, Environment: { Variables } }];
    }
    if (path[1] === 'schedules') {
      if (path[2] === undefined) return [200, { Schedules: [{ Name: 'daily' }] }];
      if (method === 'PUT') Object.assign(this.schedule, body);
      return [200, this.schedule];
    }
    return this.#api(method, path, url, body);
  }

  #mapping(method: string, id: string, body: Body): readonly [number, Body] {
    const mapping = this.mappings[id];
    if (mapping === undefined)
      return [404, { __type: 'ResourceNotFoundException', Message: 'no such mapping' }];
    if (method === 'PUT') mapping.State = body['Enabled'] === true ? 'Enabling' : 'Disabling';
    const answer = { State: mapping.State };
    if (method === 'GET' && mapping.State === 'Disabling') mapping.State = 'Disabled';
    if (method === 'GET' && mapping.State === 'Enabling') mapping.State = 'Enabled';
    return [200, answer];
  }

  #api(method: string, path: readonly string[], url: URL, body: Body): readonly [number, Body] {
    if (path[4] === 'routes') {
      const keys = [
        'GET /executions',
        'POST /workflows/{name}/executions',
        'POST /callbacks/{token}/heartbeat',
        '$default',
      ];
      const at = Number(url.searchParams.get('nextToken') ?? 0);
      return [
        200,
        { items: [{ routeKey: keys[at] }], ...(at + 1 < keys.length ? { nextToken: String(at + 1) } : {}) },
      ];
    }
    if (method === 'PATCH')
      this.routeSettings = { ...this.routeSettings, ...(body['routeSettings'] as Record<string, Body>) };
    if (method === 'DELETE')
      this.routeSettings = Object.fromEntries(
        Object.entries(this.routeSettings).filter(([key]) => key !== path[7]),
      );
    return [200, { routeSettings: this.routeSettings }];
  }
}

const ruleName = ({ Name, EventBusName }: Body): string =>
  EventBusName === undefined ? String(Name) : `${String(EventBusName)} ${String(Name)}`;
