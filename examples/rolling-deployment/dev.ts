/** Starts the balancer, the installer and the monitor for `npm start`. */

import { type DevContext, startDevWorld } from '../world/process.ts';
import { PLACE } from './world.ts';

export default (context: DevContext) => startDevWorld(context, 'FLEET_WORLD_URL', PLACE);
