/**
 * Reads HTTP APIs, event rules and schedules into typed descriptions. Pure; the second half of
 * stack-model.ts.
 */
import { isRecord, type Json, NotRunHere, TemplateError } from './json.ts';
import { Properties } from './properties.ts';
import type { ResolvedResource } from './template.ts';

export interface RouteSpec {
  /** `$default` or `METHOD /path/{parameter}`. */
  readonly routeKey: string;
  readonly functionName: string;
  readonly integrationTimeoutMs: number;
  /** `NONE`, `AWS_IAM`, `JWT` or `CUSTOM`. Locally it only refuses a browser's preflight. */
  readonly authorization: string;
}

/** The pages that may call, by `CorsConfiguration`. */
export interface CorsSpec {
  readonly allowOrigins: readonly string[];
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  readonly allowCredentials: boolean;
  readonly maxAgeSeconds: number | undefined;
}

export interface ApiSpec {
  readonly logicalId: string;
  readonly apiId: string;
  readonly stage: string;
  readonly cors: CorsSpec | undefined;
  readonly routes: readonly RouteSpec[];
}

export interface TargetSpec {
  readonly arn: string;
  /** A constant event, as JSON text. */
  readonly input: string | undefined;
  /** A path into the event (`$.detail`). */
  readonly inputPath: string | undefined;
  /** The queue for events that cannot be delivered. */
  readonly deadLetterArn: string | undefined;
}

export interface RuleSpec {
  /**
   * A schedule of EventBridge Scheduler needs a permission of its role; a rule, one of its target's policy.
   */
  readonly kind: 'rule' | 'schedule';
  readonly logicalId: string;
  readonly ruleName: string;
  readonly arn: string;
  readonly busName: string;
  readonly pattern: Readonly<Record<string, Json>> | undefined;
  readonly scheduleExpression: string | undefined;
  /** The interval of a `rate(…)` schedule. */
  readonly everyMs: number | undefined;
  readonly enabled: boolean;
  readonly targets: readonly TargetSpec[];
}

const UNIT_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** `rate(5 minutes)` → 300,000; undefined for anything else (cron, at). */
export function rateMs(expression: string): number | undefined {
  const match = /^rate\(\s*(\d+)\s+(second|minute|hour|day)s?\s*\)$/.exec(expression.trim());
  const unitMs = UNIT_MS[match?.[2] ?? ''];
  return match === null || unitMs === undefined ? undefined : Number(match[1]) * unitMs;
}

/** Reads a resource, or lists it as not run. @returns an empty list then */
export type OrListed = <Spec>(resource: ResolvedResource, read: () => Spec) => Spec[];

/** Builds the APIs from stages, routes and integrations. */
export function readApis(resources: readonly ResolvedResource[], orListed: OrListed): ApiSpec[] {
  const ofApi = (type: string, api: ResolvedResource) =>
    resources.filter((resource) => resource.type === type && resource.properties['ApiId'] === api.ref);
  return resources
    .filter((resource) => resource.type === 'AWS::ApiGatewayV2::Api')
    .flatMap((api) => orListed(api, () => readApi(api)));

  function readApi(api: ResolvedResource): ApiSpec {
    const properties = Properties.of(api);
    const protocol = properties.optionalText('ProtocolType') ?? 'HTTP';
    if (protocol !== 'HTTP') {
      throw new NotRunHere(properties.path('ProtocolType'), `${protocol} APIs do not run locally; HTTP does`);
    }
    const integrations = ofApi('AWS::ApiGatewayV2::Integration', api);
    const stage = ofApi('AWS::ApiGatewayV2::Stage', api)[0]?.ref ?? '$default';
    const routes = ofApi('AWS::ApiGatewayV2::Route', api).flatMap((route) =>
      orListed(route, () => readRoute(route, integrations)),
    );
    const cors = readCors(properties.optionalChild('CorsConfiguration'));
    return { logicalId: api.logicalId, apiId: api.ref, stage, cors, routes };
  }
}

function readCors(configuration: Properties | undefined): CorsSpec | undefined {
  if (configuration === undefined) return undefined;
  const texts = (name: string): string[] => configuration.list(name).map(String);
  return {
    allowOrigins: texts('AllowOrigins'),
    allowMethods: texts('AllowMethods'),
    allowHeaders: texts('AllowHeaders'),
    exposeHeaders: texts('ExposeHeaders'),
    allowCredentials: configuration.flag('AllowCredentials', false),
    maxAgeSeconds: configuration.optionalNumber('MaxAge'),
  };
}

function readRoute(route: ResolvedResource, integrations: readonly ResolvedResource[]): RouteSpec {
  const properties = Properties.of(route);
  const target = properties.optionalText('Target')?.replace('integrations/', '');
  if (target === undefined) throw new NotRunHere(properties.path('Target'), 'a route without an integration');
  const integration = integrations.find((each) => each.ref === target);
  if (integration === undefined) {
    throw new TemplateError(properties.path('Target'), `"${target}" is no integration of this API`);
  }
  const settings = Properties.of(integration);
  const uri = settings.optionalText('IntegrationUri') ?? '';
  const name = /function:([^:/]+)/.exec(uri)?.[1];
  if (settings.text('IntegrationType') !== 'AWS_PROXY' || name === undefined) {
    throw new NotRunHere(
      settings.path('IntegrationUri'),
      'only AWS_PROXY integrations of a Lambda function run',
    );
  }
  const version = settings.optionalText('PayloadFormatVersion') ?? '2.0';
  if (version !== '2.0') {
    throw new NotRunHere(
      settings.path('PayloadFormatVersion'),
      `"${version}" does not run locally; 2.0 does`,
    );
  }
  return {
    routeKey: properties.text('RouteKey'),
    functionName: name,
    integrationTimeoutMs: settings.number('TimeoutInMillis', 30_000),
    authorization: properties.optionalText('AuthorizationType') ?? 'NONE',
  };
}

/** Reads a rule of EventBridge or a schedule of EventBridge Scheduler into one type. */
export function readRule(resource: ResolvedResource): RuleSpec {
  const properties = Properties.of(resource);
  const isScheduler = resource.type === 'AWS::Scheduler::Schedule';
  const pattern = properties.raw('EventPattern');
  const scheduleExpression = properties.optionalText('ScheduleExpression');
  const targets = isScheduler ? [properties.child('Target')] : properties.children('Targets');
  const busName = (properties.optionalText('EventBusName') ?? 'default').replace(/^.*event-bus\//, '');
  const { region, accountId } = resource.arnPlace;
  return {
    kind: isScheduler ? 'schedule' : 'rule',
    logicalId: resource.logicalId,
    ruleName: resource.physicalName,
    arn: isScheduler
      ? `arn:aws:scheduler:${region}:${accountId}:schedule/default/${resource.physicalName}`
      : `arn:aws:events:${region}:${accountId}:rule/${resource.physicalName}`,
    busName,
    pattern: isRecord(pattern) ? pattern : undefined,
    scheduleExpression,
    everyMs: scheduleExpression === undefined ? undefined : rateMs(scheduleExpression),
    enabled: (properties.optionalText('State') ?? 'ENABLED') !== 'DISABLED',
    targets: targets.map(readTarget),
  };
}

function readTarget(target: Properties): TargetSpec {
  if (target.raw('InputTransformer') !== undefined) {
    throw new NotRunHere(
      target.path('InputTransformer'),
      'does not run locally; supported: Input, InputPath',
    );
  }
  return {
    arn: target.text('Arn'),
    input: target.optionalText('Input'),
    inputPath: target.optionalText('InputPath'),
    deadLetterArn: target.child('DeadLetterConfig').optionalText('Arn'),
  };
}
