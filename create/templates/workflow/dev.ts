/**
 * What `steadfast dev` starts beside this workflow, on this machine only. A deployment knows nothing of it.
 */

import { BAD_DAYS, startPostOffice } from './post-office__ending__';

export default async function startDev(context: { readonly log: (line: string) => void }) {
  const office = await startPostOffice(BAD_DAYS);
  context.log(`a post office that misbehaves at ${office.url}`);
  return { environment: { POST_OFFICE_URL: office.url }, stop: office.stop };
}
