/**
 * The scheduler: one Lambda function behind an HTTP API.
 *
 * Owns: the routes as API Gateway knows them, who may call, the access log. Does not own: what a call does or
 * answers; every route ends in the same function, which routes again.
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
import { type CfnResource, Duration, Fn, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { type CallKind, CALLS } from '../api/calls.ts';
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

export interface SchedulerApiProps {
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

export class SchedulerApi extends Construct {
  readonly function: Function;
  readonly api: HttpApi;
  readonly stage: HttpStage;
  readonly accessLog: LogGroup;
  /** Takes what no other route matches. */
  readonly defaultRoute: HttpRoute;
  /** Without a trailing slash. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: SchedulerApiProps) {
    super(scope, id);
    this.function = addFunction(this, {
      description: 'Steadfast scheduler: starts executions, answers queries, takes commands',
      code: props.code,
      timeout: Duration.seconds(30),
      memorySize: props.memorySize,
      environment: { ...props.environment, ...openWaits(props) },
      logs: props.logs,
      // It sends the first message of each chain; see the agents' function.
      recursiveLoop: RecursiveLoop.ALLOW,
      ...(props.tracing === undefined ? {} : { tracing: props.tracing }),
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
    if (props.lanes !== '') resourceOf(this.function).addMetadata(LANES_KEY, props.lanes);
    const { level: _, ...logs } = props.logs;
    this.accessLog = new LogGroup(this, 'AccessLog', { ...logs, logGroupName: accessLogName(this, props) });
    this.api = new HttpApi(this, 'Api', {
      // A label for people.
      apiName: props.deploymentName,
      description: 'Steadfast',
      createDefaultStage: false,
      defaultAuthorizer: props.authorizer ?? new HttpIamAuthorizer(),
      ...(props.cors === undefined ? {} : { corsPreflight: props.cors }),
      // What stands in front of the domain could be passed by at AWS's own address.
      ...(props.domain === undefined ? {} : { disableExecuteApiEndpoint: true }),
    });
    this.stage = this.api.addStage('Stage', {
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(this.accessLog), format: ACCESS_LOG },
      ...(props.throttle === undefined ? {} : { throttle: props.throttle }),
      ...(props.domain === undefined ? {} : { domainMapping: props.domain }),
    });
    this.url = props.domain === undefined ? this.api.apiEndpoint : withoutSlash(this.stage.domainUrl);
    tagApi(this.stage, props.domain === undefined ? undefined : this.url);
    this.defaultRoute = this.addRoutes(props);
  }

  /**
   * Calling the API: all of it, or one method and one path, in which `*` stands for any name.
   * @throws Error for what is no role or user of this account: an HTTP API has no
   * policy that could let others in
   */
  grantInvoke(grantee: IGrantable, method?: HttpMethod, path?: string): Grant {
    return grantCalls(grantee, this.api.arnForExecuteApi(method, path, this.stage.stageName), this);
  }

  private addRoutes({ authorizer, callbackAuthorizer, scopes, cors }: SchedulerApiProps): HttpRoute {
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
    const defaultRoute = new HttpRoute(this, 'Default', { httpApi: this.api, routeKey, integration });
    for (const [route, call] of Object.entries(CALLS)) {
      const [method = '', path = ''] = route.split(' ');
      // A bulk action answers in the name of its caller, not of a token's holder.
      const own = path.startsWith('/callbacks/') ? callbackAuthorizer : undefined;
      const authorizationScopes = [...(scopes?.[call.for] ?? SCOPES[call.for])];
      this.api.addRoutes({
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
      const [preflight] = this.api.addRoutes({
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
        resource: this.api.apiId,
        resourceName: '*/$default',
      }),
    });
    return defaultRoute;
  }
}
