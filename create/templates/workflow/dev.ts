/** Starts the workflow's external service for `steadfast dev`, on this machine. It is not deployed. */

import { BAD_DAYS, startPostOffice } from './post-office__ending__';

export default async function startDev(context: { readonly log: (line: string) => void }) {
  const office = await startPostOffice(BAD_DAYS);
  context.log(`a post office that misbehaves at ${office.url}`);
  return { environment: { POST_OFFICE_URL: office.url }, stop: office.stop };
}
