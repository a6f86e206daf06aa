/**
 * Chooses the route of a request as HTTP APIs do: exact before `{name}` before `{name+}` before `$default`.
 * Pure.
 */
import type { RouteSpec } from '../template/routing-model.ts';

export interface RouteMatch {
  readonly route: RouteSpec;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** The route for a method and path, or undefined (404). */
export function matchRoute(
  routes: readonly RouteSpec[],
  method: string,
  path: string,
): RouteMatch | undefined {
  let best: { match: RouteMatch; rank: string } | undefined;
  for (const route of routes) {
    const found = tryRoute(route, method, path);
    if (found !== undefined && (best === undefined || found.rank > best.rank)) best = found;
  }
  return best?.match;
}

/**
 * The rank of a match, compared as text: for each path part 3 if exact, 2 for a parameter, 1 if greedy; then
 * 1 for a named method.
 */
function tryRoute(
  route: RouteSpec,
  method: string,
  path: string,
): { match: RouteMatch; rank: string } | undefined {
  if (route.routeKey === '$default') return { match: { route, pathParameters: {} }, rank: '0' };
  const [routeMethod = '', routePath = ''] = route.routeKey.split(' ');
  if (routeMethod !== 'ANY' && routeMethod !== method) return undefined;
  const wanted = partsOf(routePath);
  const given = partsOf(path);
  const pathParameters: Record<string, string> = {};
  let rank = '';
  for (const [index, part] of wanted.entries()) {
    const value = given[index];
    if (value === undefined) return undefined;
    const parameter = /^\{([^}+]+)(\+?)\}$/.exec(part);
    if (parameter === null) {
      if (part !== value) return undefined;
      rank += '3';
    } else if (parameter[2] === '+') {
      pathParameters[parameter[1] ?? ''] = given.slice(index).map(decoded).join('/');
      return { match: { route, pathParameters }, rank: `${rank}1` };
    } else {
      pathParameters[parameter[1] ?? ''] = decoded(value);
      rank += '2';
    }
  }
  if (given.length !== wanted.length) return undefined;
  return { match: { route, pathParameters }, rank: `${rank}${routeMethod === 'ANY' ? '' : '1'}` };
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
