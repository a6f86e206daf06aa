/** The time by the clock of the API that this command calls. */

import { ServerTime } from '../lib/view/server-time.ts';

export const serverTime: ServerTime = new ServerTime();
