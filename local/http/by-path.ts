/** Chooses the listener on the main port by the beginning of the path. Pure. */
import type { IncomingMessage, RequestListener } from 'node:http';

/** Handlers by the beginning of a path: '/console' serves '/console' and all paths below it. */
export type Listeners = Readonly<Record<string, RequestListener>>;

/** The path as sent, without the query. */
export const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';

/** Makes the listener that chooses by a path's beginning; `otherwise` serves all other paths. */
export function byPath(listeners: Listeners, otherwise: RequestListener): RequestListener {
  const starts = Object.entries(listeners);
  return (request, response) => {
    const path = pathOf(request);
    const [, found = otherwise] =
      starts.find(([start]) => path === start || path.startsWith(`${start}/`)) ?? [];
    found(request, response);
  };
}
