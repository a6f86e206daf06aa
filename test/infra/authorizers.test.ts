/**
 * Who may make which call: signed requests by default, tokens with scopes, and for a callback any caller with
 * its token.
 */

import {
  CorsHttpMethod,
  DomainName,
  HttpNoneAuthorizer,
  type IDomainName,
} from 'aws-cdk-lib/aws-apigatewayv2';
import {
  HttpIamAuthorizer,
  HttpJwtAuthorizer,
  HttpLambdaAuthorizer,
} from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Function } from 'aws-cdk-lib/aws-lambda';
import { type CfnElement, Stack } from 'aws-cdk-lib/core';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import type { SteadfastProps } from '../../lib/infra/steadfast-props.ts';
import { FOUND } from './fixture.ts';
import { findingsOf, makeApp, makeStack, Reader } from './template.ts';

type Routes = Record<string, { type: unknown; scopes: unknown }>;

const routesWith = (props: Partial<SteadfastProps>): Routes => routesOf(makeStack(props));

function routesOf(stack: Stack): Routes {
  const routes = new Reader(stack).ofType('AWS::ApiGatewayV2::Route');
  return Object.fromEntries(
    routes.map(({ Properties }) => [
      String(Properties['RouteKey']),
      { type: Properties['AuthorizationType'], scopes: Properties['AuthorizationScopes'] },
    ]),
  );
}

const jwt = (): HttpJwtAuthorizer =>
  new HttpJwtAuthorizer('Tokens', 'https://login.example', { jwtAudience: ['steadfast'] });
const scopesOf = (routes: Routes): Record<string, unknown> =>
  Object.fromEntries(Object.entries(routes).map(([key, { scopes }]) => [key, scopes]));

describe('the API', () => {
  test('takes signed requests and nothing else, on every route', () => {
    const routes = routesWith({});
    expect(Object.keys(routes).length).toBeGreaterThan(15);
    expect(new Set(Object.values(routes).map(({ type }) => type))).toEqual(new Set(['AWS_IAM']));
    expect(new Set(Object.values(scopesOf(routes)))).toEqual(new Set([undefined]));
  });

  test('with tokens asks each kind of call for a scope of its own', () => {
    const routes = routesWith({ authorizer: jwt() });
    expect(new Set(Object.values(routes).map(({ type }) => type))).toEqual(new Set(['JWT']));
    const { $default, ...scopes } = scopesOf(routes);
    // It only says that there is no such call.
    expect($default).toBeUndefined();
    for (const [key, scope] of Object.entries(scopes)) {
      const call = key.startsWith('GET ')
        ? 'read'
        : key.includes('/callbacks/') || key === 'POST /bulk/{id}/answer'
          ? 'callback'
          : key.endsWith('/executions') || key.endsWith('/messages')
            ? 'start'
            : key.endsWith('/runs')
              ? 'run'
              : key.endsWith('/erase')
                ? 'erase'
                : 'operate';
      expect([key, scope]).toEqual([key, [`steadfast/${call}`]]);
    }
  });

  test('takes other scopes, and none where none is wanted', () => {
    const scopes = scopesOf(
      routesWith({ authorizer: jwt(), scopes: { start: ['shop/order', 'shop/admin'], read: [] } }),
    );
    expect(scopes['POST /workflows/{name}/executions']).toEqual(['shop/order', 'shop/admin']);
    expect(scopes['GET /executions/{id}'] ?? []).toEqual([]);
    expect(scopes['POST /executions/{id}/cancel']).toEqual(['steadfast/operate']);
  });

  test('lets the holder of a callback’s token answer it, and no other caller do anything', () => {
    const routes = routesWith({ callbackAuthorizer: new HttpNoneAuthorizer() });
    const open = Object.keys(routes).filter((key) => routes[key]?.type === 'NONE');
    expect(open.sort()).toEqual([
      'POST /callbacks/{token}/complete',
      'POST /callbacks/{token}/fail',
      'POST /callbacks/{token}/heartbeat',
    ]);
    expect(routes['$default']?.type).toBe('AWS_IAM');
  });

  test('knows which roles’ sessions are persons, and no other function does', () => {
    const reader = new Reader(makeStack({ personalRoles: ['Approver', 'AWSReservedSSO_Ops_0123'] }));
    const name = 'STEADFAST_PERSONAL_ROLES';
    expect(reader.environmentOf('Scheduler')).toMatchObject({ [name]: 'Approver AWSReservedSSO_Ops_0123' });
    expect(reader.environmentOf('Agents/steadfast-bulk')).toMatchObject({
      [name]: 'Approver AWSReservedSSO_Ops_0123',
    });
    expect(reader.environmentOf('Agents/pay')).not.toHaveProperty(name);
    expect(new Reader(makeStack({})).environmentOf('Scheduler')).not.toHaveProperty(name);
  });

  test.each(['arn:aws:iam::123456789012:role/Approver', 'Approver*', 'team/Approver', ''])(
    'refuses %j as the name of a role',
    (name) => {
      expect(() => makeStack({ personalRoles: [name] })).toThrow(
        `personalRoles has '${name}'; it takes names`,
      );
    },
  );

  describe('with a workflow that asks another person', () => {
    const [order, report] = FOUND.workflows;
    const asking = {
      ...FOUND,
      workflows: [{ ...order, asksAnother: true } as never, report as never],
    };
    const own = (): HttpLambdaAuthorizer => {
      const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:own';
      return new HttpLambdaAuthorizer(
        'Own',
        Function.fromFunctionArn(new Stack(makeApp(), 'Own'), 'Own', arn),
      );
    };

    test.each<[string, Partial<SteadfastProps>]>([
      ['authorizer', { authorizer: new HttpNoneAuthorizer() }],
      ['authorizer', { authorizer: own() }],
      ['callbackAuthorizer', { callbackAuthorizer: new HttpNoneAuthorizer() }],
      ['callbackAuthorizer', { authorizer: jwt(), callbackAuthorizer: own() }],
    ])('is refused where %s does not identify callers', (name, props) => {
      expect(() => makeStack({ workflows: asking, ...props })).toThrow(
        `workflow 'order' has an approval that must be another person's (by: 'another'), and ${name} does not identify callers`,
      );
    });

    test('is built where somebody is vouched for, and warns where one person may be two', () => {
      const warned = (props: Partial<SteadfastProps>): boolean =>
        JSON.stringify(
          makeStack({ workflows: asking, ...props }).node.findChild('Steadfast').node.metadata,
        ).includes('somebody who can pass both counts as two people');
      const tokens = jwt();
      expect(warned({})).toBe(false);
      expect(warned({ authorizer: tokens, callbackAuthorizer: tokens })).toBe(false);
      expect(warned({ callbackAuthorizer: jwt() })).toBe(true);
    });

    test('does not concern workflows that do not ask', () => {
      expect(() => makeStack({ callbackAuthorizer: new HttpNoneAuthorizer() })).not.toThrow();
    });
  });

  test('refuses scopes where no token would have any', () => {
    expect(() => routesWith({ scopes: { read: ['a/b'] } })).toThrow(/scopes/);
    expect(() => routesWith({ authorizer: new HttpIamAuthorizer(), scopes: {} })).toThrow(
      /HttpJwtAuthorizer/,
    );
  });
});

describe('what else may be set of the API', () => {
  const at = (props: Partial<SteadfastProps>, type: string): Record<string, unknown> =>
    new Reader(makeStack(props)).ofType(`AWS::ApiGatewayV2::${type}`)[0]?.Properties ?? {};

  test('how many calls it takes', () => {
    expect(at({}, 'Stage')).not.toHaveProperty('DefaultRouteSettings');
    expect(at({ throttle: { rateLimit: 100, burstLimit: 200 } }, 'Stage')).toMatchObject({
      DefaultRouteSettings: { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
    });
  });

  test('which origins call it from a browser', () => {
    expect(at({}, 'Api')).not.toHaveProperty('CorsConfiguration');
    const cors = { allowOrigins: ['https://shop.example'], allowMethods: [CorsHttpMethod.GET] };
    expect(at({ cors }, 'Api')).toMatchObject({
      CorsConfiguration: { AllowOrigins: ['https://shop.example'], AllowMethods: ['GET'] },
    });
  });

  test('with other origins a preflight of any path needs no authorizer, and nothing else is open', () => {
    const preflight = 'OPTIONS /{proxy+}';
    const closed = routesWith({ authorizer: jwt() });
    const stack = makeStack({ authorizer: jwt(), cors: { allowOrigins: ['https://shop.example'] } });
    const { [preflight]: open, ...others } = routesOf(stack);
    expect(open).toEqual({ type: 'NONE', scopes: undefined });
    expect(Object.values(others).map(({ type }) => type)).not.toContain('NONE');
    expect(others).toEqual(closed);
    expect(findingsOf(stack)).toEqual([]);
  });

  test('a domain of its own, which the outputs then name', () => {
    const stack = new Stack(makeApp(), 'Test');
    const domainName = new DomainName(stack, 'Domain', {
      domainName: 'steadfast.example',
      certificate: Certificate.fromCertificateArn(
        stack,
        'Certificate',
        'arn:aws:acm:us-east-1:1:certificate/c',
      ),
    }) as IDomainName;
    const steadfast = new Steadfast(stack, 'Steadfast', { workflows: FOUND, domain: { domainName } });
    const reader = new Reader(stack);
    const [mapping] = reader.ofType('AWS::ApiGatewayV2::ApiMapping');
    expect(mapping?.Properties).toMatchObject({ Stage: '$default' });
    // AWS's own address would bypass the domain's protection; commands find the domain by a tag.
    const [api] = reader.ofType('AWS::ApiGatewayV2::Api');
    expect(api?.Properties).toMatchObject({ DisableExecuteApiEndpoint: true });
    const [stage] = reader.ofType('AWS::ApiGatewayV2::Stage');
    expect(Object(stage?.Properties['Tags'])['steadfast:url']).toEqual(
      stack.resolve(steadfast.scheduler.gateway?.url),
    );
    const domain = stack.getLogicalId(domainName.node.defaultChild as CfnElement);
    expect(stack.resolve(steadfast.scheduler.gateway?.url)).toEqual({
      'Fn::Join': ['', ['https://', { Ref: domain }]],
    });
  });
});

describe('the access log', () => {
  test('says who called, by signature or by token', () => {
    const [stage] = new Reader(makeStack({ authorizer: jwt() })).ofType('AWS::ApiGatewayV2::Stage');
    const { Format } = Object(stage?.Properties['AccessLogSettings']) as { Format: string };
    expect(JSON.parse(Format)).toMatchObject({
      caller: '$context.identity.userArn',
      subject: '$context.authorizer.claims.sub',
    });
  });

  test('is of the groups that share one entry of the account’s policy of logs, and of this stack alone', () => {
    const group = new Reader(makeStack()).one('AWS::Logs::LogGroup', 'Scheduler/AccessLog');
    const name = JSON.stringify(group.Properties['LogGroupName']);
    expect(name).toMatch(/"\/aws\/vendedlogs\/apis\/Test-?Steadfast/);
    expect(name).toContain('AWS::StackId');
  });
});
