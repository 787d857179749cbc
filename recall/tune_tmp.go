package recall

import (
	"os"
	"strconv"
)

func env(name string, def float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return def
}

var (
	tNear  = env("T_NEAR", 0.3)
	tThr   = env("T_THR", 0.15)
	tA     = env("T_A", 0.7)  // assistant
	tAL    = env("T_AL", 0.55) // long
	tQ     = env("T_Q", 0.85)
	tPart  = env("T_PART", 0.6)
	tPhr   = env("T_PHR", 0.15)
	tEx    = env("T_EX", 0.5)
	tPack  = env("T_PACK", 0)
	tB     = env("T_B", 0.4)
	tK     = env("T_K", 0.9)
	tNH    = env("T_NH", 40)
	tLim   = env("T_LIM", 240)
	tSpk   = env("T_SPK", 0.95)
	tGrp   = env("T_GRP", 16)
)
