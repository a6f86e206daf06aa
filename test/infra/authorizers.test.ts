/** Who may make which call: signed requests by default, tokens with scopes, callbacks for whoever has their token. */

import { HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import type { SteadfastProps } from '../../lib/infra/steadfast-props.ts';
import { makeStack, Reader } from './template.ts';

type Routes = Record<string, { type: unknown; scopes: unknown }>;

function routesWith(props: Partial<SteadfastProps>): Routes {
  const routes = new Reader(makeStack(props)).ofType('AWS::ApiGatewayV2::Route');
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
        : key.includes('/callbacks/')
          ? 'callback'
          : key.endsWith('/executions')
            ? 'start'
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

  test('lets whoever has a callback’s token answer it, and nobody else do anything else', () => {
    const routes = routesWith({ callbackAuthorizer: new HttpNoneAuthorizer() });
    const open = Object.keys(routes).filter((key) => routes[key]?.type === 'NONE');
    expect(open.sort()).toEqual([
      'POST /callbacks/{token}/beat',
      'POST /callbacks/{token}/complete',
      'POST /callbacks/{token}/fail',
    ]);
    expect(routes['$default']?.type).toBe('AWS_IAM');
  });

  test('refuses scopes where no token would have any', () => {
    expect(() => routesWith({ scopes: { read: ['a/b'] } })).toThrow(/scopes/);
    expect(() => routesWith({ authorizer: new HttpIamAuthorizer(), scopes: {} })).toThrow(
      /HttpJwtAuthorizer/,
    );
  });
});
