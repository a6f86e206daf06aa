/**
 * The scheduler: one Lambda function behind an HTTP API, or without one.
 *
 * Owns: the routes in API Gateway, who may call, the access log. Does not own: the calls and their answers;
 * every route ends in the same function, which routes again.
 *
 * Without an API the function is called directly, with an event that its caller writes. No authorizer
 * confirms the caller, so the function ignores a caller in such an event (S19).
 *
 * Routes are declared one by one, although `$default` alone would do, so that IAM can allow single calls, and
 * so that the access log can name a call by its pattern: a path contains callback tokens, which are secrets.
 * `$default` is there for unknown paths, which get an answer in the contract's form.
 *
 * With `cors` one more route accepts `OPTIONS` of every path without an authorizer: a browser's preflight has
 * no credentials, and `$default` would refuse it
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html).
 */

import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type CorsPreflightOptions,
  type DomainMappingOptions,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpRoute,
  HttpRouteKey,
  type HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
  type ThrottleSettings,
} from 'aws-cdk-lib/aws-apigatewayv2';
import {
  HttpIamAuthorizer,
  HttpJwtAuthorizer,
  HttpUserPoolAuthorizer,
} from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { type Grant, type IGrantable, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type Code, type Function, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnOutput, type CfnResource, Duration, Fn, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { defined } from '../core/values/defined.ts';
import { type CallKind, CALLS, kindOf, type Route } from '../api/calls.ts';
import type { KeysOf } from '../core/values/options.ts';
import { ENV, LANES_KEY } from '../aws/names.ts';
import { addFunction, type SharedSettings } from './function.ts';
import { grantCalls } from './grants.ts';
import { tagApi } from './parts.ts';

/** API Gateway gives up after 29 s; the longest `?wait` ends before that. */
const INTEGRATION_TIMEOUT = Duration.seconds(29);

/** By kind of call, the scopes that allow it; a token needs one of them. */
export type Scopes = Readonly<Record<CallKind, readonly string[]>>;
const SCOPES: Scopes = {
  start: ['steadfast/start'],
  run: ['steadfast/run'],
  read: ['steadfast/read'],
  operate: ['steadfast/operate'],
  callback: ['steadfast/callback'],
  erase: ['steadfast/erase'],
};
export const SCOPE_OPTIONS = {
  start: true,
  run: true,
  read: true,
  operate: true,
  callback: true,
  erase: true,
} as const satisfies KeysOf<Scopes>;

/** The access log has no path, query or body: they contain ids, tokens and payloads. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTime',
    route: '$context.routeKey',
    status: '$context.status',
    latencyMs: '$context.responseLatency',
    // A signed request has this one, a token the next; the other is '-'.
    caller: '$context.identity.userArn',
    subject: '$context.authorizer.claims.sub',
    error: '$context.error.message',
    integrationError: '$context.integrationErrorMessage',
  }),
);

/** Whether there is a public HTTP API; otherwise the function is called directly. */
export type ApiKind = 'http' | 'none';

export interface SchedulerApiProps extends SharedSettings {
  /** @default 'http' */
  readonly kind?: ApiKind;
  readonly code: Code;
  /**
   * Who may call; applies to every route.
   * @default - IAM: requests are signed, and allowed by `grantInvoke`
   */
  readonly authorizer?: IHttpRouteAuthorizer;
  /**
   * With an authorizer of tokens (JWT): the scopes that calls need. An empty list asks for none.
   * @default - steadfast/start, steadfast/run, steadfast/read, steadfast/operate, steadfast/callback,
   * steadfast/erase
   */
  readonly scopes?: Partial<Scopes>;
  /**
   * Who may answer callbacks, if that differs from other calls. With `HttpNoneAuthorizer`, everyone with a
   * callback's token: for external systems that can keep a secret but not sign a request.
   * @default - as `authorizer`
   */
  readonly callbackAuthorizer?: IHttpRouteAuthorizer;
  /** Requests a second to all routes together. @default - the account's */
  readonly throttle?: ThrottleSettings;
  /** @default - no page of another origin may call */
  readonly cors?: CorsPreflightOptions;
  /** A domain of its own; AWS's own address is switched off then. @default - only AWS's address */
  readonly domain?: DomainMappingOptions;
  /** Executions reserved for its function, which are also its maximum. @default - none */
  readonly reservedConcurrency?: number;
  /** Distinguishes this deployment from others of the account. */
  readonly deploymentName: string;
  /** The lanes as 'workflow/lane', separated by commas, to compare the template with open executions. */
  readonly lanes: string;
}

/**
 * The name of the access log's group. API Gateway needs a policy of the account's logs, which can name few
 * groups, and groups with this prefix share one entry of it
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html). The end is
 * the stack's own id, so that a retained group does not block the next stack of the same name.
 */
function accessLogName(scope: Construct, { deploymentName }: SchedulerApiProps): string {
  const id = Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Stack.of(scope).stackId))));
  return `/aws/vendedlogs/apis/${deploymentName}-${id}`;
}

const resourceOf = ({ node }: Function): CfnResource => node.defaultChild as CfnResource;

const withoutSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url);

/** How many calls may wait for an end: half of the reserved executions; the rest serves all other calls. */
const openWaits = ({ reservedConcurrency: most }: SchedulerApiProps): Record<string, string> =>
  most === undefined ? {} : { [ENV.openWaits]: String(Math.floor(most / 2)) };

/** True for the only authorizers whose scopes API Gateway checks. */
const takesScopes = (authorizer: IHttpRouteAuthorizer | undefined): boolean =>
  authorizer instanceof HttpJwtAuthorizer || authorizer instanceof HttpUserPoolAuthorizer;

/** The HTTP API before the function. */
export interface Gateway {
  readonly api: HttpApi;
  readonly stage: HttpStage;
  readonly accessLog: LogGroup;
  /** The route for everything that no other route matches. */
  readonly defaultRoute: HttpRoute;
  /** The address, without a trailing slash. */
  readonly url: string;
}

/** The scheduler's function and the HTTP API before it. */
export class SchedulerApi extends Construct {
  readonly function: Function;
  /** Undefined with `api: 'none'`. */
  readonly gateway?: Gateway;

  constructor(scope: Construct, id: string, props: SchedulerApiProps) {
    super(scope, id);
    const isDirect = props.kind === 'none';
    this.function = addFunction(this, {
      description: 'Steadfast scheduler: starts executions, answers queries, takes commands',
      code: props.code,
      timeout: Duration.seconds(30),
      memorySize: props.memorySize,
      environment: {
        ...props.environment,
        ...openWaits(props),
        ...(isDirect ? { [ENV.direct]: 'true' } : {}),
      },
      logs: props.logs,
      // It sends the first message of each chain; see the agents' function.
      recursiveLoop: RecursiveLoop.ALLOW,
      ...defined({ tracing: props.tracing, reservedConcurrentExecutions: props.reservedConcurrency }),
    });
    if (props.lanes !== '') resourceOf(this.function).addMetadata(LANES_KEY, props.lanes);
    if (!isDirect) this.gateway = this.addGateway(props);
  }

  /**
   * Lets a grantee call the whole API, or one method and one path, where `*` stands for any name.
   * @throws Error for a grantee that is not a role or user of this account, because an HTTP API has no
   * resource policy; or for a part of the calls if there is no API
   */
  grantInvoke(grantee: IGrantable, method?: HttpMethod, path?: string): Grant {
    if (this.gateway !== undefined) {
      const { api, stage } = this.gateway;
      return grantCalls(grantee, api.arnForExecuteApi(method, path, stage.stageName), this);
    }
    if (method === undefined && path === undefined) return this.function.grantInvoke(grantee);
    throw new Error(
      `${this.node.path}: with api: 'none' a function of Lambda takes all calls of a caller or none: use grantInvoke, or leave api out`,
    );
  }

  private addGateway(props: SchedulerApiProps): Gateway {
    const { level: _, ...logs } = props.logs;
    const accessLog = new LogGroup(this, 'AccessLog', { ...logs, logGroupName: accessLogName(this, props) });
    const api = new HttpApi(this, 'Api', {
      // The name is a label for people.
      apiName: props.deploymentName,
      description: 'Steadfast',
      createDefaultStage: false,
      defaultAuthorizer: props.authorizer ?? new HttpIamAuthorizer(),
      ...defined({ corsPreflight: props.cors }),
      // Otherwise callers could bypass what protects the domain by AWS's own address.
      ...(props.domain === undefined ? {} : { disableExecuteApiEndpoint: true }),
    });
    const stage = api.addStage('Stage', {
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(accessLog), format: ACCESS_LOG },
      ...defined({ throttle: props.throttle, domainMapping: props.domain }),
    });
    const url = props.domain === undefined ? api.apiEndpoint : withoutSlash(stage.domainUrl);
    tagApi(stage, props.domain === undefined ? undefined : url);
    return { api, stage, accessLog, url, defaultRoute: this.addRoutes(api, props) };
  }

  private addRoutes(
    api: HttpApi,
    { authorizer, callbackAuthorizer, scopes, cors }: SchedulerApiProps,
  ): HttpRoute {
    if (scopes !== undefined && !takesScopes(authorizer) && !takesScopes(callbackAuthorizer))
      throw new Error(
        'scopes: only an authorizer of tokens takes them (HttpJwtAuthorizer, HttpUserPoolAuthorizer)',
      );
    const integration = new HttpLambdaIntegration('Integration', this.function, {
      timeout: INTEGRATION_TIMEOUT,
      // One permission for the API instead of one for each route, because a function's policy is limited to
      // 20 KB.
      scopePermissionToRoute: false,
    });
    // First, because the integration becomes a child of the first route that uses it.
    const routeKey = HttpRouteKey.DEFAULT;
    const defaultRoute = new HttpRoute(this, 'Default', { httpApi: api, routeKey, integration });
    const scoped = new Set<string>();
    for (const route of Object.keys(CALLS) as Route[]) {
      const [method = '', path = ''] = route.split(' ');
      // A bulk action answers in the name of its caller, so it does not use the callbacks' authorizer.
      const own = path.startsWith('/callbacks/') ? callbackAuthorizer : undefined;
      const kind = kindOf(route);
      const authorizationScopes = [...(scopes?.[kind] ?? SCOPES[kind])];
      if (takesScopes(own ?? authorizer)) scoped.add(kind);
      api.addRoutes({
        path,
        methods: [HttpMethod[method as 'GET' | 'POST']],
        integration,
        ...(own === undefined ? {} : { authorizer: own }),
        ...(takesScopes(own ?? authorizer) ? { authorizationScopes } : {}),
      });
    }
    const untaken = Object.keys(scopes ?? {}).filter((kind) => !scoped.has(kind));
    if (untaken.length > 0)
      throw new Error(
        `scopes.${untaken.join(', scopes.')}: the authorizer of these calls takes no scopes; leave it out, or give them an authorizer of tokens (HttpJwtAuthorizer, HttpUserPoolAuthorizer)`,
      );
    // An HTTP API has no integration that answers by itself; the scheduler's function does, before it reads
    // anything.
    if (cors !== undefined) {
      const [preflight] = api.addRoutes({
        path: '/{proxy+}',
        methods: [HttpMethod.OPTIONS],
        integration,
        authorizer: new HttpNoneAuthorizer(),
      });
      if (preflight !== undefined)
        Validations.of(preflight).acknowledge({
          id: 'AwsSolutions-APIG4',
          reason: 'a browser cannot sign its preflight; the answer says nothing',
        });
    }
    // The integration allows only <stage>/<method>/<path>; API Gateway calls for `$default` as
    // <stage>/$default.
    this.function.addPermission('DefaultRoute', {
      principal: new ServicePrincipal('apigateway.amazonaws.com'),
      sourceArn: Stack.of(this).formatArn({
        service: 'execute-api',
        resource: api.apiId,
        resourceName: '*/$default',
      }),
    });
    return defaultRoute;
  }
}

/** The stack's output with the address for calls. */
export const addressOf = (scope: Construct, { gateway, function: called }: SchedulerApi): CfnOutput =>
  gateway === undefined
    ? new CfnOutput(scope, 'SchedulerName', {
        value: called.functionName,
        description: 'The name of the function that takes calls',
      })
    : new CfnOutput(scope, 'ApiUrl', { value: gateway.url, description: 'The address of the API' });
