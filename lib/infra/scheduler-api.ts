/**
 * The scheduler: one Lambda function behind an HTTP API, or without one.
 *
 * Owns: the routes as API Gateway knows them, who may call, the access log. Does not own: what a call does or
 * answers; every route ends in the same function, which routes again.
 *
 * Without an API the function is called directly, with an event that its caller writes. Nobody vouches for
 * who that is, so the function then believes no caller in an event (S19).
 *
 * Routes are spelled out, although `$default` alone would do, so that IAM can allow one call and not another,
 * and so that the access log can name the call by its pattern: a path holds callback tokens, which are
 * secrets. `$default` is there for the rest, so that an unknown path is answered in the contract's own form.
 *
 * With `cors` one more route takes `OPTIONS` of every path without an authorizer: a browser's preflight has
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
import { type Code, type Function, RecursiveLoop, type Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnOutput, type CfnResource, Duration, Fn, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { type CallKind, CALLS, kindOf, type Route } from '../api/calls.ts';
import { ENV, LANES_KEY } from '../aws/names.ts';
import { addFunction, type LogSettings } from './function.ts';
import { grantCalls } from './grants.ts';
import { tagApi } from './parts.ts';

/** API Gateway gives up after 29 s; the longest `?wait` ends before that. */
const INTEGRATION_TIMEOUT = Duration.seconds(29);

/** For each kind of call the scopes of which a token must have one. */
export type Scopes = Readonly<Record<CallKind, readonly string[]>>;
const SCOPES: Scopes = {
  start: ['steadfast/start'],
  run: ['steadfast/run'],
  read: ['steadfast/read'],
  operate: ['steadfast/operate'],
  callback: ['steadfast/callback'],
  erase: ['steadfast/erase'],
};

/** No path, no query, no body: they hold ids, tokens and payloads. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTime',
    route: '$context.routeKey',
    status: '$context.status',
    latencyMs: '$context.responseLatency',
    // A signed request has the first, a token the second; the other is '-'.
    caller: '$context.identity.userArn',
    subject: '$context.authorizer.claims.sub',
    error: '$context.error.message',
    integrationError: '$context.integrationErrorMessage',
  }),
);

/** A public HTTP API, or none: the function is called directly. */
export type ApiKind = 'http' | 'none';

export interface SchedulerApiProps {
  /** @default 'http' */
  readonly kind?: ApiKind;
  readonly code: Code;
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  readonly memorySize: number;
  readonly tracing?: Tracing;
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
   * Who may answer callbacks, if others than the callers of the rest. With `HttpNoneAuthorizer`, anyone with
   * a callback's token: for outside systems that can keep a secret but not sign a request.
   * @default - as `authorizer`
   */
  readonly callbackAuthorizer?: IHttpRouteAuthorizer;
  /** Requests a second to all routes together. @default - the account's */
  readonly throttle?: ThrottleSettings;
  /** @default - no page of another origin may call */
  readonly cors?: CorsPreflightOptions;
  /** AWS's own address is off then. @default - that address alone */
  readonly domain?: DomainMappingOptions;
  /** Executions set aside for its function, which are its most as well. @default - none */
  readonly reservedConcurrency?: number;
  /** Tells this deployment from others of the account. */
  readonly deploymentName: string;
  /** Each as 'workflow/lane', by commas; for who compares the template with what is under way. */
  readonly lanes: string;
}

/**
 * API Gateway writes to a log group through a policy of the account's logs, which holds few
 * groups; those with this beginning share one entry of it
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html).
 * The end is the stack's own id: a group that was kept when its stack went is not in the way of
 * the next stack of the same name.
 */
function accessLogName(scope: Construct, { deploymentName }: SchedulerApiProps): string {
  const id = Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Stack.of(scope).stackId))));
  return `/aws/vendedlogs/apis/${deploymentName}-${id}`;
}

const resourceOf = ({ node }: Function): CfnResource => node.defaultChild as CfnResource;

const withoutSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url);

/** Where executions are set aside, half of them may wait for an end; the rest is for all other calls. */
const openWaits = ({ reservedConcurrency: most }: SchedulerApiProps): Record<string, string> =>
  most === undefined ? {} : { [ENV.openWaits]: String(Math.floor(most / 2)) };

/** Only of these does API Gateway take scopes. */
const takesScopes = (authorizer: IHttpRouteAuthorizer | undefined): boolean =>
  authorizer instanceof HttpJwtAuthorizer || authorizer instanceof HttpUserPoolAuthorizer;

/** What stands in front of the function. */
export interface Gateway {
  readonly api: HttpApi;
  readonly stage: HttpStage;
  readonly accessLog: LogGroup;
  /** Takes what no other route matches. */
  readonly defaultRoute: HttpRoute;
  /** Without a trailing slash. */
  readonly url: string;
}

/** The scheduler's function and the HTTP API before it. */
export class SchedulerApi extends Construct {
  readonly function: Function;
  /** Nothing with `api: 'none'`. */
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
      ...(props.tracing === undefined ? {} : { tracing: props.tracing }),
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
    if (props.lanes !== '') resourceOf(this.function).addMetadata(LANES_KEY, props.lanes);
    if (!isDirect) this.gateway = this.addGateway(props);
  }

  /**
   * Calling the API: all of it, or one method and one path, in which `*` stands for any name.
   * @throws Error for what is no role or user of this account: an HTTP API has no
   * policy that could let others in; for a part of the calls where there is no API
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
      // A label for people.
      apiName: props.deploymentName,
      description: 'Steadfast',
      createDefaultStage: false,
      defaultAuthorizer: props.authorizer ?? new HttpIamAuthorizer(),
      ...(props.cors === undefined ? {} : { corsPreflight: props.cors }),
      // What stands in front of the domain could be passed by at AWS's own address.
      ...(props.domain === undefined ? {} : { disableExecuteApiEndpoint: true }),
    });
    const stage = api.addStage('Stage', {
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(accessLog), format: ACCESS_LOG },
      ...(props.throttle === undefined ? {} : { throttle: props.throttle }),
      ...(props.domain === undefined ? {} : { domainMapping: props.domain }),
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
      // One permission for the API instead of one for each route: a function's policy holds 20 KB.
      scopePermissionToRoute: false,
    });
    // First, because the integration becomes a child of the first route it is used in.
    const routeKey = HttpRouteKey.DEFAULT;
    const defaultRoute = new HttpRoute(this, 'Default', { httpApi: api, routeKey, integration });
    for (const route of Object.keys(CALLS) as Route[]) {
      const [method = '', path = ''] = route.split(' ');
      // A bulk action answers in the name of its caller, not of a token's holder.
      const own = path.startsWith('/callbacks/') ? callbackAuthorizer : undefined;
      const kind = kindOf(route);
      const authorizationScopes = [...(scopes?.[kind] ?? SCOPES[kind])];
      api.addRoutes({
        path,
        methods: [HttpMethod[method as 'GET' | 'POST']],
        integration,
        ...(own === undefined ? {} : { authorizer: own }),
        ...(takesScopes(own ?? authorizer) ? { authorizationScopes } : {}),
      });
    }
    // An HTTP API has no integration that answers by itself; the scheduler's function
    // does, before it reads anything.
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
    // The integration allows <stage>/<method>/<path> only; API Gateway calls for
    // `$default` as <stage>/$default.
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

/** Where calls are sent to, as an output of the stack. */
export const addressOf = (scope: Construct, { gateway, function: called }: SchedulerApi): CfnOutput =>
  gateway === undefined
    ? new CfnOutput(scope, 'SchedulerName', {
        value: called.functionName,
        description: 'The name of the function that takes calls',
      })
    : new CfnOutput(scope, 'ApiUrl', { value: gateway.url, description: 'The address of the API' });
