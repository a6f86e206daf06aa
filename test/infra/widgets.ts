/** The widgets of a template's dashboard. */

import type { Reader } from './template.ts';

export interface Widget {
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>> & { readonly metrics?: unknown[][] };
}

/** A property that CDK joined from text and tokens, as text. */
const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : (value as { 'Fn::Join': [string, unknown[]] })['Fn::Join'][1]
        .map((part) => (typeof part === 'string' ? part : 'token'))
        .join('');

export function widgetsOf(reader: Reader): readonly Widget[] {
  const [dashboard] = reader.ofType('AWS::CloudWatch::Dashboard');
  return (JSON.parse(textOf(dashboard!.Properties['DashboardBody'])) as { widgets: Widget[] }).widgets;
}

/** The metrics of a namespace that a widget draws: [metric name, dimension name, dimension value]. */
export const drawnIn = (widgets: readonly Widget[], namespace: string): unknown[][] =>
  widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .filter(([space]) => space === namespace)
    .map((metric) => metric.slice(1, 4));
