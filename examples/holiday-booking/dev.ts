/** Starts the airline, the hotels and the other services for `npm start`. */

import { type DevContext, startDevWorld } from '../world/process.ts';
import { PLACE } from './world.ts';

export default (context: DevContext) => startDevWorld(context, 'HOLIDAY_WORLD_URL', PLACE);
