/** An AWS service's endpoint: its own variable, the common variable, or the service of this region. */

const VARIABLES: Readonly<Record<string, string>> = {
  secretsmanager: 'SECRETS_MANAGER',
  events: 'EVENTBRIDGE',
};

export interface Endpoint {
  readonly url: URL;
  readonly region: string;
}

/** Returns the endpoint; undefined outside AWS. */
export function endpointOf(service: string): Endpoint | undefined {
  const { AWS_REGION: region, AWS_ENDPOINT_URL: all, ...env } = process.env;
  if (region === undefined) return undefined;
  const own = env[`AWS_ENDPOINT_URL_${VARIABLES[service] ?? service.toUpperCase()}`];
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return { url: new URL(own ?? all ?? `https://${service}.${region}.${suffix}/`), region };
}
