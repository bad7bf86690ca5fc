import Policies
import Testing
import TrustInsights

@Suite struct PerformanceTests {
    /// T7: ten high outcomes, two fraud, one legitimate, seven unlabelled.
    @Test func t7PrecisionIsOverTheLabelledAndSaysHowManyThatAre() {
        var performance = Performance()
        for _ in 0..<2 { performance.add(.high, .confirmedFraud) }
        performance.add(.high, .confirmedLegitimate)
        for _ in 0..<7 { performance.add(.high, nil) }
        let figures = performance.figures(naming: [.high])
        #expect(figures.precision == 2.0 / 3.0)
        #expect(figures.coverage == 0.3)
        #expect(figures.recall == 1)
    }

    /// T6: unlabelled is never silently legitimate, and suspected is neither.
    @Test func t6UnlabelledAndSuspectedAreInNoCount() {
        var performance = Performance()
        performance.add(.high, .confirmedFraud)
        performance.add(.high, .suspectedFraud)
        performance.add(.high, .retracted)
        performance.add(.medium, .confirmedFraud)
        performance.add(.unknown, .confirmedFraud)
        performance.add(.unknown, .confirmedLegitimate)
        let high = performance.figures(naming: [.high])
        #expect((high.truePositives, high.falsePositives) == (1, 0))
        #expect((high.falseNegatives, high.trueNegatives) == (2, 1))
        let both = performance.figures(naming: [.medium, .high])
        #expect(both.recall == 2.0 / 3.0)
        #expect(both.named == 4)
        #expect(performance.rows[.high]?.unlabelled == 1)
    }

    @Test func withoutLabelsThereAreNoFigures() {
        var performance = Performance()
        performance.add(.unknown, nil)
        let figures = performance.figures(naming: [.high])
        #expect(figures.precision == nil)
        #expect(figures.recall == nil)
        #expect(figures.coverage == nil)
    }
}
