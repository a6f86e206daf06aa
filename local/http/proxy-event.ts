/**
 * API Gateway's payload format 2.0: converts a request to an event, and a function's answer to a response.
 * Pure.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { isRecord, type Json } from '../template/json.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path as sent, without the query. */
  readonly rawPath: string;
  readonly rawQuery: string;
  readonly headers: IncomingHttpHeaders;
  readonly sourceIp: string;
  readonly body: Buffer;
  readonly at: number;
  readonly requestId: string;
}

export interface MatchedRoute {
  readonly routeKey: string;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly apiId: string;
  readonly stage: string;
  readonly accountId: string;
  /** `NONE`, `AWS_IAM`, `JWT` or `CUSTOM`. */
  readonly authorization: string;
  /** The caller's name; it is not checked. */
  readonly user: string;
}

export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: Buffer;
}

const TEXT = /^(text\/|application\/(.*\+)?(json|javascript|xml|x-www-form-urlencoded))/i;

/** Makes the event of a request. */
export function proxyEvent(request: HttpRequest, route: MatchedRoute): Json {
  const headers = joinedHeaders(request.headers);
  const cookies = headers['cookie']?.split('; ');
  delete headers['cookie'];
  const query = queryOf(request.rawQuery);
  // A body that is not UTF-8 is passed as base64, because it would be changed as text.
  const isText =
    request.body.length === 0 || (TEXT.test(headers['content-type'] ?? 'text/plain') && isUtf8(request.body));
  return {
    version: '2.0',
    routeKey: route.routeKey,
    rawPath: request.rawPath,
    rawQueryString: request.rawQuery,
    ...(cookies === undefined ? {} : { cookies }),
    headers,
    ...(query === undefined ? {} : { queryStringParameters: query }),
    ...(Object.keys(route.pathParameters).length === 0 ? {} : { pathParameters: route.pathParameters }),
    requestContext: {
      accountId: route.accountId,
      apiId: route.apiId,
      ...authorizerOf(route),
      domainName: headers['host'] ?? 'localhost',
      domainPrefix: route.apiId,
      http: {
        method: request.method,
        path: request.rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: request.requestId,
      routeKey: route.routeKey,
      stage: route.stage,
      time: logTime(request.at),
      timeEpoch: request.at,
    },
    ...(request.body.length === 0 ? {} : { body: request.body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: !isText,
  };
}

/**
 * The HTTP response for a function's answer (JSON text).
 * @throws Error if the answer is invalid; API Gateway answers 500 then
 */
export function httpAnswer(payload: string): HttpAnswer {
  const answer = JSON.parse(payload) as Json;
  // An answer without a statusCode is the body.
  if (!isRecord(answer) || answer['statusCode'] === undefined) {
    const body = typeof answer === 'string' ? answer : payload;
    return {
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      cookies: [],
      body: Buffer.from(body),
    };
  }
  const statusCode = Number(answer['statusCode']);
  if (!Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599)
    throw new Error('a bad statusCode');
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(isRecord(answer['headers']) ? answer['headers'] : {})) {
    headers[name.toLowerCase()] = Array.isArray(value) ? value.join(',') : String(value);
  }
  const body = answer['body'];
  const text =
    typeof body === 'string' ? body : body === undefined || body === null ? '' : JSON.stringify(body);
  headers['content-type'] ??= 'text/plain;charset=utf-8';
  const cookies = Array.isArray(answer['cookies']) ? answer['cookies'].map(String) : [];
  return {
    statusCode,
    headers,
    cookies,
    body: Buffer.from(text, answer['isBase64Encoded'] === true ? 'base64' : 'utf8'),
  };
}

function joinedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return joined;
}

function queryOf(rawQuery: string): Record<string, string> | undefined {
  if (rawQuery === '') return undefined;
  const values: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    values[name] = Object.hasOwn(values, name) ? `${values[name]},${value}` : value;
  }
  return values;
}

/**
 * The caller as an authorizer passes it. Locally a caller may use any name; no deployed API can have this
 * account and this issuer.
 */
function authorizerOf({ authorization, accountId, user }: MatchedRoute): { readonly authorizer?: Json } {
  if (authorization === 'JWT')
    return { authorizer: { jwt: { claims: { iss: 'local', sub: user }, scopes: null } } };
  if (authorization !== 'AWS_IAM') return {};
  const iam = {
    accessKey: 'local',
    accountId,
    callerId: 'local',
    cognitoIdentity: null,
    principalOrgId: null,
    userArn: `arn:aws:iam::${accountId}:user/${user}`,
    userId: 'local',
  };
  return { authorizer: { iam } };
}

/** `12/Mar/2026:19:03:58 +0000`, the form of access logs. */
function logTime(at: number): string {
  const [, day = '', month = '', year = '', time = ''] = new Date(at).toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
